SELECT
  "dob", CAST("sex" AS TEXT) COLLATE "binary" AS "sex", CAST("zip" AS TEXT) COLLATE "binary" AS "zip",
  CAST("disease" AS TEXT) COLLATE "binary" AS "disease"
FROM "main"."patients"
WHERE
  (NOT (
    "system"."main".current_setting(
      CASE
        WHEN ((NOT (
          "system"."main".lower("system"."main".current_setting('default_collation')) IN ('', 'binary', 'c', 'posix')
        )))
        THEN (
          'sqlanon: this session compares text by a collation, and this view by its bytes; run RESET default_collation'
        )
        WHEN (("system"."main".typeof("dob") <> 'DATE'))
        THEN ('sqlanon: the column dob was DATE when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW')
        WHEN (("system"."main".typeof("sex") <> 'VARCHAR'))
        THEN ('sqlanon: the column sex was VARCHAR when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW')
        WHEN (("system"."main".typeof("zip") <> 'VARCHAR'))
        THEN ('sqlanon: the column zip was VARCHAR when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW')
        WHEN (("system"."main".typeof("disease") <> 'VARCHAR'))
        THEN ('sqlanon: the column disease was VARCHAR when this view was made; run CREATE OR REPLACE ANONYMIZED VIEW')
        ELSE 'default_collation'
      END
    ) IS NULL
  ))
