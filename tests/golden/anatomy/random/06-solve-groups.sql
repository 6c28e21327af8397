-- Look for: as many buckets as l divides the rows into, at least one; the second query finds values that are more
-- frequent than there are buckets; the third has the figures for EXPLAIN.

CREATE TEMPORARY TABLE "__sqlanon_groups_1" AS
SELECT
  *,
  CAST(SUM("groups") OVER (ORDER BY "region" ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) - "groups" AS "base"
FROM (
  SELECT
    "region", MAX("rows") AS "rows", MAX("n") AS "most",
    CAST(GREATEST(
      1, LEAST(MAX("rows") // 3, MAX("rows") // 1, MIN(CASE WHEN "rank" < 1 THEN ("rows" - "top") // (1 - "rank") END))
    ) AS BIGINT) AS "groups"
  FROM (
    SELECT
      "region", "n",
      ROW_NUMBER() OVER (PARTITION BY "region" ORDER BY "n" DESC NULLS LAST, "code" ASC NULLS LAST) AS "rank",
      CAST(SUM("n") OVER (
        PARTITION BY "region"
        ORDER BY "n" DESC NULLS LAST, "code" ASC NULLS LAST
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) AS BIGINT) AS "top",
      CAST(SUM("n") OVER (PARTITION BY "region") AS BIGINT) AS "rows"
    FROM "__sqlanon_value_counts_1" AS "counts"
  ) AS "ranked"
  GROUP BY "region"
) AS "by_region";

SELECT COUNT(*) FROM "__sqlanon_groups_1" WHERE "most" > "groups";

SELECT
  COALESCE(CAST(SUM("groups") AS BIGINT), 0), COALESCE(MIN("rows" // "groups"), 0),
  COALESCE(MAX("rows" // "groups" + CASE WHEN "rows" % "groups" > 0 THEN 1 ELSE 0 END), 0),
  COALESCE(CAST(SUM("rows") AS BIGINT), 0)
FROM "__sqlanon_groups_1" AS "groups";
