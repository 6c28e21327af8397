-- Look for: respondents counted without NULL in equivalence_class, and as one where there are no others; the guard
-- asks for entities, not rows; the respondent is not among the columns of the outermost SELECT.

WITH "source" AS NOT MATERIALIZED (
  SELECT CAST("sex" AS TEXT) COLLATE "binary" AS "sex", CAST("disease" AS TEXT) COLLATE "binary" AS "disease", "person"
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
        WHEN ("system"."main".typeof("person")) <> 'INTEGER'
        THEN 'sqlanon: the column person was INTEGER when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW'
        ELSE 'default_collation'
      END
    ) IS NULL
), "recode_0" AS ({recode_0-3}), "recoded" AS NOT MATERIALIZED (
  SELECT
    ("recode_0"."code" << 0) AS "class_id", "recode_0"."label" AS "label_0",
    CAST("source"."disease" AS TEXT) AS "column_1", "source"."person" AS "__sqlanon_entity"
  FROM "source"
  JOIN "recode_0" ON "source"."sex" IS NOT DISTINCT FROM "recode_0"."value" AND "recode_0"."code" < 2147483648
), "equivalence_class" AS (
  SELECT
    "class_id", COUNT(*) AS "size",
    COUNT(DISTINCT "__sqlanon_entity") + MIN(CASE WHEN "__sqlanon_entity" IS NULL THEN 1 ELSE 0 END) AS "entities"
  FROM "recoded"
  GROUP BY "class_id"
), "kept" AS ({kept-2(3)})
SELECT
  "recoded"."label_0" AS "sex",
  struct_extract(CAST(row("recoded"."column_1") AS STRUCT("text" TEXT)), 'text') AS "disease"
FROM "recoded"
JOIN "kept" ON "recoded"."class_id" = "kept"."class_id"
WHERE ({query-3});
