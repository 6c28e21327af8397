-- Look for: SECURE VIEW; WHERE refuses a session with a collation or a column of another type; texts under COLLATE
-- "binary"; what is published goes through a STRUCT, which takes the collation off again; no value of the source.

CREATE SECURE VIEW "memory"."main"."__sqlanon_candidate_1" ("dob", "sex", "zip", "disease") AS
WITH "source" AS NOT MATERIALIZED ({source}), "recode_0" AS (
  SELECT
    "value",
    "system"."main".struct_extract(CAST("system"."main"."row"("label") AS STRUCT("text" TEXT)), 'text') AS "label",
    CAST("system"."main"."-"("system"."main".dense_rank() OVER (ORDER BY "label" ASC NULLS LAST), 1) AS BIGINT) AS "code"
  FROM (
    SELECT
      "value",
      CASE
        WHEN (("value" = CAST('infinity' AS DATE))) THEN ('infinity')
        WHEN (("value" = CAST('-infinity' AS DATE))) THEN ('-infinity')
        ELSE "system"."main"."||"(
          CASE WHEN (("system"."main".date_part('YEAR', "value") < 0)) THEN ('-') ELSE '' END,
          "system"."main"."||"(
            "system"."main".repeat(
              '0',
              "system"."main"."-"(
                4, "system"."main".length(CAST("system"."main".abs("system"."main".date_part('YEAR', "value")) AS TEXT))
              )
            ),
            CAST("system"."main".abs("system"."main".date_part('YEAR', "value")) AS TEXT)
          )
        )
      END AS "label"
    FROM (SELECT DISTINCT "dob" AS "value" FROM "source") AS "occurring"
  ) AS "labelled"
), "recode_1" AS ({recode_1}), "recode_2" AS ({recode_2-2(3)}), "recoded" AS NOT MATERIALIZED (
  SELECT
    "system"."main".struct_pack(
      "key_0" := "system"."main"."+"(
        "system"."main"."<<"("recode_0"."code", 0), "system"."main"."<<"("recode_1"."code", 31)
      ),
      "key_1" := "system"."main"."<<"("recode_2"."code", 0)
    ) AS "class_id",
    "recode_0"."label" AS "label_0", "recode_1"."label" AS "label_1", "recode_2"."label" AS "label_2",
    "source"."disease" AS "column_3"
  FROM (
    (
      (
        "source"
          INNER JOIN "recode_0"
            ON ((("source"."dob" IS NOT DISTINCT FROM "recode_0"."value") AND ("recode_0"."code" < 2147483648)))
      )
      INNER JOIN "recode_1"
        ON ((("source"."sex" IS NOT DISTINCT FROM "recode_1"."value") AND ("recode_1"."code" < 2147483648)))
    )
    INNER JOIN "recode_2"
      ON ((("source"."zip" IS NOT DISTINCT FROM "recode_2"."value") AND ("recode_2"."code" < 2147483648)))
  )
), "equivalence_class" AS ({equivalence_class-2}), "kept" AS ({kept(4)})
SELECT
  "recoded"."label_0" AS "dob", "recoded"."label_1" AS "sex", "recoded"."label_2" AS "zip",
  "system"."main".struct_extract(CAST("system"."main"."row"("recoded"."column_3") AS STRUCT("text" TEXT)), 'text') AS "disease"
FROM ("recoded" INNER JOIN "kept" ON (("recoded"."class_id" = "kept"."class_id")))
WHERE ({query-4});
