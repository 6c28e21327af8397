-- Look for: buckets by their `first` and the models' own texts over them; the distribution of the whole table is the
-- sum over all buckets.

CREATE TEMPORARY TABLE "__sqlanon_violating_1" AS
SELECT "class_id" AS "class_id"
FROM (
  WITH "class_value_0" AS (
    SELECT "class_id", "value" AS "value_0", CAST(SUM("n") AS BIGINT) AS "n"
    FROM (
      SELECT "slot"."first" AS "class_id", "coded"."value", "tally"."n"
      FROM "__sqlanon_tally_1" AS "tally"
      JOIN "__sqlanon_slots_1" AS "slot" ON "slot"."slot" = "tally"."slot"
      JOIN "__sqlanon_codes_1" AS "coded" ON "coded"."code" = "tally"."code"
    ) AS "bucket"
    GROUP BY "class_id", "value"
  ), "equivalence_class" AS ({equivalence_class-9}), "sensitive_code_0" AS (
    SELECT "value_0", ROW_NUMBER() OVER (ORDER BY "value_0" IS NULL ASC NULLS LAST, "value_0" ASC NULLS LAST) AS "code"
    FROM (SELECT DISTINCT "value_0" FROM "class_value_0") AS "occurring"
  ), "class_sensitive_value_0" AS ({class_sensitive_value_0-2}), "sensitive_value_0" AS (
    {sensitive_value_0("class_sensitive_value_0")}
  )
  SELECT "class_id"
  FROM ({violation-7}) AS "violation"
) AS "broken";
