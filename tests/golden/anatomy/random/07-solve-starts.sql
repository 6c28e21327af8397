-- Look for: where the rows of each value begin on the round of buckets; the values in a drawn order; of each value at
-- most one row a bucket is `kept`, the rest comes behind all of them.

CREATE TEMPORARY TABLE "__sqlanon_starts_1" AS
SELECT
  "region",
  "code",
  "kept",
  "groups",
  "base",
  CAST(SUM("n") OVER (
    ORDER BY "region" ASC NULLS LAST, "code" ASC NULLS LAST
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS BIGINT) - "n" AS "before",
  CAST(SUM("kept") OVER (
    PARTITION BY "region"
    ORDER BY "draw" ASC NULLS LAST, "code" ASC NULLS LAST
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS BIGINT) - "kept" AS "first",
  CAST(SUM("kept") OVER (PARTITION BY "region") AS BIGINT) + CAST(SUM("n" - "kept") OVER (
    PARTITION BY "region"
    ORDER BY "draw" ASC NULLS LAST, "code" ASC NULLS LAST
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS BIGINT) - (
    "n" - "kept"
  ) AS "behind"
FROM (
  SELECT
    "held"."region",
    "held"."code",
    "held"."n",
    "held"."draw",
    "region"."groups",
    "region"."base",
    CASE
      WHEN "held"."n" IS NULL OR "region"."groups" IS NULL
      THEN NULL
      ELSE LEAST("held"."n", "region"."groups")
    END AS "kept"
  FROM "__sqlanon_held_1" AS "held"
  JOIN "__sqlanon_groups_1" AS "region"
    ON "held"."region" = "region"."region"
) AS "joined";
