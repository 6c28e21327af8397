-- Look for: one scan of the source: the codes of its columns add up to one number a row, NULL's too; a function counts
-- for all queries at once, in 64 blocks.

CREATE TEMPORARY TABLE "__sqlanon_counts_1" AS
SELECT
  "query",
  CAST(SUM("rows") AS BIGINT) AS "rows"
FROM (
  SELECT
    UNNEST("found") AS "rows",
    UNNEST(range(len("found"))) AS "query"
  FROM (
    SELECT
      udf(list("code_0")) AS "found"
    FROM (
      SELECT
        "code_0",
        hash("code_0") % 64 AS "block"
      FROM (
        SELECT
          CAST((
            0 + COALESCE(
              "held_0"."code",
              (
                SELECT
                  "code"
                FROM "__sqlanon_code_1"
                WHERE
                  "value" IS NULL
              )
            ) + COALESCE(
              "held_1"."code",
              (
                SELECT
                  "code"
                FROM "__sqlanon_code_2"
                WHERE
                  "value" IS NULL
              )
            ) + COALESCE(
              "held_2"."code",
              (
                SELECT
                  "code"
                FROM "__sqlanon_code_3"
                WHERE
                  "value" IS NULL
              )
            ) + COALESCE(
              "held_3"."code",
              (
                SELECT
                  "code"
                FROM "__sqlanon_code_4"
                WHERE
                  "value" IS NULL
              )
            )
          ) AS BIGINT) AS "code_0"
        FROM (
          SELECT
            "dob" AS "value_0",
            "zip" AS "value_1",
            "disease" AS "value_2",
            "sex" AS "value_3"
          FROM "memory"."main"."patients"
        ) AS "shown"
        LEFT JOIN "__sqlanon_code_1" AS "held_0"
          ON "shown"."value_0" = "held_0"."value"
        LEFT JOIN "__sqlanon_code_2" AS "held_1"
          ON "shown"."value_1" = "held_1"."value"
        LEFT JOIN "__sqlanon_code_3" AS "held_2"
          ON "shown"."value_2" = "held_2"."value"
        LEFT JOIN "__sqlanon_code_4" AS "held_3"
          ON "shown"."value_3" = "held_3"."value"
      ) AS "encoded"
    ) AS "shown"
    GROUP BY
      "block"
  ) AS "block"
) AS "long"
GROUP BY
  "query";
