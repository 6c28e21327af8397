-- Look for: sensitive values in value order with NULL last; before a row is dealt the whole table is asked as one
-- bucket (class_id 0): what violates there can be satisfied by no dealing.

CREATE TEMPORARY TABLE "__sqlanon_codes_1" AS
SELECT "value", "n", ROW_NUMBER() OVER (ORDER BY "value" IS NULL ASC NULLS LAST, "value" ASC NULLS LAST) AS "code"
FROM (
  SELECT "disease" AS "value", COUNT(*) AS "n"
  FROM "memory"."main"."patients" AS "source"
  GROUP BY "disease"
) AS "counted";

SELECT MAX("n") FROM "__sqlanon_codes_1";

SELECT COUNT(*)
FROM (
  SELECT "class_id" AS "class_id"
  FROM (
    WITH "class_value_0" AS ({class_value_0-2}), "equivalence_class" AS ({equivalence_class-9}), "sensitive_code_0" AS (
      SELECT
        "value_0", ROW_NUMBER() OVER (ORDER BY "value_0" IS NULL ASC NULLS LAST, "value_0" ASC NULLS LAST) AS "code"
      FROM (SELECT DISTINCT "value_0" FROM "class_value_0") AS "occurring"
    ), "class_sensitive_value_0" AS ({class_sensitive_value_0-2})
    SELECT "class_id"
    FROM ({violation-8(3, '3')}) AS "violation"
  ) AS "broken"
) AS "broken";
