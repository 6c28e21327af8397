SELECT "labels", "rows", CAST(0 AS BIGINT) AS "tried", "low_0", "high_0", "low_1", "high_1", "low_2", "high_2"
FROM "half" AS "children"
WHERE NOT "region" IN (SELECT "region" FROM "failing" AS "failing")
UNION ALL
SELECT
  [ CAST("region" * 3 AS INT), CAST("region" * 3 + 1 AS INT), CAST("region" * 3 + 2 AS INT)
  ] AS "labels", "rows", "tried" | (CAST(1 AS BIGINT) << "dim") AS "tried", "low_0", "high_0", "low_1", "high_1",
  "low_2", "high_2"
FROM "__sqlanon_regions_1" AS "regions"
WHERE "region" IN (SELECT "region" FROM "failing" AS "failing")
