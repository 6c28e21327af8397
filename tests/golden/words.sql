-- Look for: a field of 31 bits for each column, however many labels it has; two columns a word; a class named by both
-- words together, wherever classes are grouped, withheld and joined.

WITH "source" AS NOT MATERIALIZED (
  SELECT "day", CAST("sex" AS TEXT) COLLATE "binary" AS "sex", CAST("zip" AS TEXT) COLLATE "binary" AS "zip"
  FROM "main"."visits"
  WHERE
    NOT "system"."main".current_setting(
      CASE
        WHEN NOT "system"."main".lower("system"."main".current_setting('default_collation')) IN ('', 'binary', 'c', 'posix')
        THEN 'sqlanon: this session compares text by a collation, and this view by its bytes; run RESET default_collation'
        WHEN ("system"."main".typeof("day")) <> 'DATE'
        THEN 'sqlanon: the column day was DATE when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW'
        WHEN ("system"."main".typeof("sex")) <> 'VARCHAR'
        THEN 'sqlanon: the column sex was VARCHAR when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW'
        WHEN ("system"."main".typeof("zip")) <> 'VARCHAR'
        THEN 'sqlanon: the column zip was VARCHAR when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW'
        ELSE 'default_collation'
      END
    ) IS NULL
), "recode_0" AS ({recode_0-4}), "recode_1" AS ({recode_0-3}), "recode_2" AS (
  {recode_2-3}
), "recoded" AS NOT MATERIALIZED (
  SELECT
    {'key_0': ("recode_0"."code" << 0) + ("recode_1"."code" << 31), 'key_1': ("recode_2"."code" << 0)} AS "class_id",
    "recode_0"."label" AS "label_0", "recode_1"."label" AS "label_1", "recode_2"."label" AS "label_2"
  FROM "source"
  JOIN "recode_0" ON "source"."day" IS NOT DISTINCT FROM "recode_0"."value" AND "recode_0"."code" < 2147483648
  JOIN "recode_1" ON "source"."sex" IS NOT DISTINCT FROM "recode_1"."value" AND "recode_1"."code" < 2147483648
  JOIN "recode_2" ON "source"."zip" IS NOT DISTINCT FROM "recode_2"."value" AND "recode_2"."code" < 2147483648
), "equivalence_class" AS ({equivalence_class-6("recoded")}), "kept" AS ({kept-2(3)})
SELECT "recoded"."label_0" AS "day", "recoded"."label_1" AS "sex", "recoded"."label_2" AS "zip"
FROM "recoded"
JOIN "kept" ON "recoded"."class_id" = "kept"."class_id"
WHERE ({query-3});
