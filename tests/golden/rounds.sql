-- Look for: "rounds", which asks the classes that are left again and again and ends after the eighth time at the
-- latest; "violating", which asks all requirements once more of just the classes that remain; "kept", empty unless
-- that finds nothing; sensitive values counted once, by class_value_0, from which the sizes come too; no value.

WITH RECURSIVE "source" AS NOT MATERIALIZED (
  SELECT CAST("sex" AS TEXT) COLLATE "binary" AS "sex", CAST("disease" AS TEXT) COLLATE "binary" AS "disease"
  FROM "main"."visits"
  WHERE
    NOT "system"."main".current_setting(
      CASE
        WHEN NOT "system"."main".lower("system"."main".current_setting('default_collation')) IN ('', 'binary', 'c', 'posix')
        THEN 'sqlanon: this session compares text by a collation, and this view by its bytes; run RESET default_collation'
        WHEN ("system"."main".typeof("sex")) <> 'VARCHAR'
        THEN 'sqlanon: the column sex was VARCHAR when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW'
        WHEN ("system"."main".regexp_replace(
          "system"."main".typeof("disease"), 'ENUM\((?:''(?:[^'']|'''')*''(?:,\s*)?)*\)', 'VARCHAR', 'g'
        )) <> 'VARCHAR'
        THEN 'sqlanon: the column disease was VARCHAR when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW'
        ELSE 'default_collation'
      END
    ) IS NULL
), "recode_0" AS ({recode_0-3}), "recoded" AS NOT MATERIALIZED (
  SELECT
    ("recode_0"."code" << 0) AS "class_id", "recode_0"."label" AS "label_0",
    CAST("source"."disease" AS TEXT) AS "column_1", CAST("source"."disease" AS TEXT) AS "asked_0"
  FROM "source"
  JOIN "recode_0" ON "source"."sex" IS NOT DISTINCT FROM "recode_0"."value" AND "recode_0"."code" < 2147483648
), "class_value_0" AS (
  SELECT "class_id", "asked_0" AS "value_0", COUNT(*) AS "n"
  FROM "recoded"
  GROUP BY "class_id", "asked_0"
), "equivalence_class" AS ({equivalence_class-9}), "sensitive_code_0" AS (
  SELECT "value_0", ROW_NUMBER() OVER (ORDER BY "value_0" IS NULL ASC NULLS LAST, "value_0" ASC NULLS LAST) AS "code"
  FROM (SELECT DISTINCT "value_0" FROM "class_value_0") AS "occurring"
), "class_sensitive_value_0" AS ({class_sensitive_value_0-2}), "rounds" AS (
  SELECT *
  FROM ({first}) AS "first"
  UNION ALL
  (
    WITH "round_equivalence_class" AS ({round_equivalence_class("rounds")}), "round_class_sensitive_value_0" AS (
      {round_class_sensitive_value_0("rounds")}
    ), "round_sensitive_value_0" AS ({sensitive_value_0("round_class_sensitive_value_0")}), "round_violating" AS (
      {violating-2("round_equivalence_class", "round_sensitive_value_0", "round_class_sensitive_value_0")}
    )
    SELECT "round" + 1 AS "round", "class_id"
    FROM "rounds"
    WHERE
      ("class_id" IS NULL OR NOT "class_id" IN (SELECT "class_id" FROM "round_violating"))
      AND EXISTS(SELECT 1 FROM "round_violating") AND "round" < 8
  )
), "remaining" AS ({remaining}), "remaining_equivalence_class" AS (
  {round_equivalence_class("remaining")}
), "remaining_class_sensitive_value_0" AS (
  {round_class_sensitive_value_0("remaining")}
), "remaining_sensitive_value_0" AS ({sensitive_value_0("remaining_class_sensitive_value_0")}), "violating" AS (
  {violating-2("remaining_equivalence_class", "remaining_sensitive_value_0", "remaining_class_sensitive_value_0")}
), "kept" AS ({kept-4})
SELECT
  "recoded"."label_0" AS "sex",
  struct_extract(CAST(row("recoded"."column_1") AS STRUCT("text" TEXT)), 'text') AS "disease"
FROM "recoded"
JOIN "kept" ON "recoded"."class_id" = "kept"."class_id"
WHERE ({query-3});
