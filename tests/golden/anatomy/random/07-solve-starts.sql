-- Look for: where the rows of each value begin on the round of buckets; the values in a drawn order; of each value at
-- most one row a bucket is `spread`, the rest comes behind all of them.

CREATE TEMPORARY TABLE "__sqlanon_starts_1" AS
SELECT
  "region", "code", "spread", "groups", "base",
  CAST(SUM("n") OVER (
    ORDER BY "region" ASC NULLS LAST, "code" ASC NULLS LAST
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS BIGINT) - "n" AS "before",
  CAST(SUM("spread") OVER (
    PARTITION BY "region"
    ORDER BY "draw" ASC NULLS LAST, "code" ASC NULLS LAST
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS BIGINT) - "spread" AS "first",
  CAST(SUM("spread") OVER (PARTITION BY "region") AS BIGINT) + CAST(SUM("n" - "spread") OVER (
    PARTITION BY "region"
    ORDER BY "draw" ASC NULLS LAST, "code" ASC NULLS LAST
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  ) AS BIGINT) - ("n" - "spread") AS "behind"
FROM (
  SELECT
    "value"."region", "value"."code", "value"."n", "value"."draw", "region"."groups", "region"."base",
    LEAST("value"."n", "region"."groups") AS "spread"
  FROM "__sqlanon_value_counts_1" AS "value"
  JOIN "__sqlanon_groups_1" AS "region" ON "value"."region" = "region"."region"
) AS "joined";
