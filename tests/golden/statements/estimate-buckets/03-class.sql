-- Look for: the rows of each kind from the codes of the buckets, times the copies; then: rows and values of each bucket
-- are of one number, else the release was changed.

CREATE TEMPORARY TABLE "__sqlanon_class_1" AS
SELECT ROW_NUMBER() OVER () AS "id", *
FROM (
  SELECT "bucket", "part_0", CAST(SUM("weight") AS BIGINT) AS "n"
  FROM (
    SELECT "bucket" AS "bucket", "part_0", "weight"
    FROM (
      SELECT
        "bucket",
        UNNEST(
          [
            {'part_0': TRUE, 'weight': CAST((
              (CAST("code" AS INT128) >> CAST(0 AS INT128)) & CAST(1023 AS INT128)
            ) * "copies" AS BIGINT)},
            {'part_0': FALSE, 'weight': CAST((
              (CAST("code" AS INT128) >> CAST(10 AS INT128)) & CAST(1023 AS INT128)
            ) * "copies" AS BIGINT)},
            {'part_0': CAST(NULL AS BOOLEAN), 'weight': CAST((
              (CAST("code" AS INT128) >> CAST(20 AS INT128)) & CAST(1023 AS INT128)
            ) * "copies" AS BIGINT)}
          ], "recursive" := TRUE
        )
      FROM "__sqlanon_alike_1" AS "alike"
    ) AS "content"
    WHERE "weight" > 0
  ) AS "labelled"
  GROUP BY "bucket", "part_0"
) AS "counted";

SELECT BOOL_OR(CAST("part_0" IS NULL AS BOOLEAN)) FROM "__sqlanon_class_1" AS "part";

WITH "of_rows" AS (
  SELECT "bucket", SUM("n") AS "n"
  FROM "__sqlanon_class_1" AS "class"
  GROUP BY "bucket"
), "of_values" AS (SELECT "label", SUM("weight") AS "n" FROM "__sqlanon_leaf_1" AS "value" GROUP BY "label")
SELECT COUNT(*)
FROM "of_rows"
FULL JOIN "of_values" ON "of_rows"."bucket" IS NOT DISTINCT FROM "of_values"."label"
WHERE "of_rows"."n" IS DISTINCT FROM "of_values"."n";

SELECT COALESCE(SUM(CAST(2 AS DOUBLE) * "values_0"."n"), 0)
FROM "__sqlanon_class_1" AS "class"
JOIN ({values_0("__sqlanon_signature_1")}) AS "values_0" ON "class"."bucket" IS NOT DISTINCT FROM "values_0"."label";
