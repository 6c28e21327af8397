-- Look for: one scan of the source: the codes of its columns add up to one number a row, NULL's too; a function counts
-- for all queries at once, in 64 blocks.

CREATE TEMPORARY TABLE "__sqlanon_counts_1" AS
SELECT "query", CAST(SUM("rows") AS BIGINT) AS "rows"
FROM (
  SELECT UNNEST("counts") AS "rows", UNNEST(RANGE(0, LENGTH("counts"))) AS "query"
  FROM (
    SELECT udf(list("code_0")) AS "counts"
    FROM (
      SELECT "code_0", hash("code_0") % 64 AS "block"
      FROM (
        SELECT
          CAST((
            0 + COALESCE("labels_0"."code", ({code("__sqlanon_code_1")})) + COALESCE(
              "labels_1"."code", ({code("__sqlanon_code_2")})
            ) + COALESCE("labels_2"."code", ({code("__sqlanon_code_3")})) + COALESCE(
              "labels_3"."code", ({code("__sqlanon_code_4")})
            )
          ) AS BIGINT) AS "code_0"
        FROM (
          SELECT "dob" AS "value_0", "zip" AS "value_1", "disease" AS "value_2", "sex" AS "value_3"
          FROM "memory"."main"."patients"
        ) AS "labelled"
        LEFT JOIN "__sqlanon_code_1" AS "labels_0" ON "labelled"."value_0" = "labels_0"."value"
        LEFT JOIN "__sqlanon_code_2" AS "labels_1" ON "labelled"."value_1" = "labels_1"."value"
        LEFT JOIN "__sqlanon_code_3" AS "labels_2" ON "labelled"."value_2" = "labels_2"."value"
        LEFT JOIN "__sqlanon_code_4" AS "labels_3" ON "labelled"."value_3" = "labels_3"."value"
      ) AS "encoded"
    ) AS "encoded_rows"
    GROUP BY "block"
  ) AS "block"
) AS "long"
GROUP BY "query";
