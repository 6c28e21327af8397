-- Look for: a row for each value that is missing, of signatures of those who stay.

CREATE TEMPORARY TABLE "__sqlanon_hole_1" AS
SELECT *, udf(0) AS "draw"
FROM (
  WITH "counted" AS (
    SELECT "signature", "code", COUNT(*) AS "n"
    FROM "__sqlanon_source_row_1" AS "source_row"
    WHERE NOT "signature" IS NULL
    GROUP BY "signature", "code"
  ), "classes" AS (SELECT "signature", MAX("n") AS "n" FROM "counted" GROUP BY "signature")
  SELECT "signature", "code", UNNEST(RANGE(0, "missing")) AS "hole"
  FROM (
    SELECT "s"."signature", "s"."code", "l"."n" - COALESCE("c"."n", 0) AS "missing"
    FROM "classes" AS "l"
    JOIN "__sqlanon_signature_code_1" AS "s" ON "s"."signature" = "l"."signature"
    LEFT JOIN "counted" AS "c" ON "c"."signature" = "s"."signature" AND "c"."code" = "s"."code"
  ) AS "balance"
) AS "each";
