-- Look for: in each round the relations of both sets made anew from the classes that are left; a class by all
-- quasi-identifiers goes if the class of either set that it lies in violates, class_of_set_0 or class_of_set_1; "violating" asks both
-- sets once more.

CREATE SECURE VIEW "memory"."main"."__sqlanon_candidate_1" ("dob", "sex", "zip", "disease") AS
WITH RECURSIVE "source" AS NOT MATERIALIZED ({source}), "recode_0" AS (
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
          "system"."main"."||"(
            CASE WHEN (("system"."main".date_part('YEAR', "value") < 0)) THEN ('-') ELSE '' END,
            "system"."main"."||"(
              "system"."main".repeat(
                '0',
                "system"."main"."-"(
                  3,
                  "system"."main".length(
                    CAST("system"."main"."//"("system"."main".abs("system"."main".date_part('YEAR', "value")), 10) AS TEXT)
                  )
                )
              ),
              CAST("system"."main"."//"("system"."main".abs("system"."main".date_part('YEAR', "value")), 10) AS TEXT)
            )
          ),
          '*'
        )
      END AS "label"
    FROM (SELECT DISTINCT "dob" AS "value" FROM "source") AS "occurring"
  ) AS "labelled"
), "recode_1" AS ({recode_1}), "recode_2" AS ({recode_2-2(4)}), "recoded" AS NOT MATERIALIZED (
  SELECT
    "system"."main".struct_pack(
      "key_0" := "system"."main"."+"(
        "system"."main"."<<"("recode_0"."code", 0), "system"."main"."<<"("recode_1"."code", 31)
      ),
      "key_1" := "system"."main"."<<"("recode_2"."code", 0)
    ) AS "class_id",
    "recode_0"."label" AS "label_0", "recode_1"."label" AS "label_1", "recode_2"."label" AS "label_2",
    "source"."disease" AS "column_3", "source"."disease" AS "asked_0"
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
), "class_value_0" AS ({class_value_0}), "equivalence_class" AS ({equivalence_class-3}), "class_of_set_0" AS (
  {class_of_set_0(2147483647)}
), "class_of_set_1" AS ({class_of_set_0(4611686016279904256)}), "sensitive_code_0" AS (
  {sensitive_code_0}
), "class_sensitive_value_0" AS ({class_sensitive_value_0-3}), "equivalence_class_on_0" AS (
  {equivalence_class_on_0("class_of_set_0")}
), "class_sensitive_value_0_on_1" AS (
  {class_sensitive_value_0_on_1("class_sensitive_value_0", "class_of_set_1")}
), "rounds" AS (
  ({equivalence_class-7})
  UNION ALL
  (
    WITH "round_class_of_set_0" AS ({round_class_of_set_0-2("rounds")}), "round_class_sensitive_value_0" AS (
      {round_class_sensitive_value_0-2("rounds")}
    ), "round_class_of_set_1" AS ({round_class_of_set_1-2("rounds")}), "round_equivalence_class_on_0" AS (
      {equivalence_class_on_0("round_class_of_set_0")}
    ), "round_class_sensitive_value_0_on_1" AS (
      {class_sensitive_value_0_on_1("round_class_sensitive_value_0", "round_class_of_set_1")}
    ), "round_violating" AS (
      SELECT "class_id"
      FROM (
        SELECT "class_id", "system"."main".max("size") AS "size", "system"."main".max("excess") AS "excess"
        FROM (
          ({round_equivalence_class_on("round_class_of_set_0", "round_equivalence_class_on_0")})
          UNION ALL
          ({round_class_sensitive_value_0_on("round_class_of_set_1", "round_class_sensitive_value_0_on_1")})
        ) AS "violation"
        GROUP BY "class_id"
      ) AS "violations"
    )
    SELECT "system"."main"."+"("round", 1) AS "round", "class_id"
    FROM "rounds"
    WHERE
      (
        (("class_id" IS NULL) OR (NOT ("class_id" = ANY (SELECT "class_id" FROM "round_violating"))))
        AND EXISTS(SELECT 1 FROM "round_violating") AND ("round" < 8)
      )
  )
), "remaining" AS ({remaining-2}), "remaining_class_of_set_0" AS (
  {round_class_of_set_0-2("remaining")}
), "remaining_class_sensitive_value_0" AS (
  {round_class_sensitive_value_0-2("remaining")}
), "remaining_class_of_set_1" AS ({round_class_of_set_1-2("remaining")}), "remaining_equivalence_class_on_0" AS (
  {equivalence_class_on_0("remaining_class_of_set_0")}
), "remaining_class_sensitive_value_0_on_1" AS (
  {class_sensitive_value_0_on_1("remaining_class_sensitive_value_0", "remaining_class_of_set_1")}
), "violating" AS (
  SELECT "class_id"
  FROM (
    SELECT "class_id", "system"."main".max("size") AS "size", "system"."main".max("excess") AS "excess"
    FROM (
      ({round_equivalence_class_on("remaining_class_of_set_0", "remaining_equivalence_class_on_0")})
      UNION ALL
      ({round_class_sensitive_value_0_on("remaining_class_of_set_1", "remaining_class_sensitive_value_0_on_1")})
    ) AS "violation"
    GROUP BY "class_id"
  ) AS "violations"
), "kept" AS ({kept-3})
SELECT
  "recoded"."label_0" AS "dob", "recoded"."label_1" AS "sex", "recoded"."label_2" AS "zip",
  "system"."main".struct_extract(CAST("system"."main"."row"("recoded"."column_3") AS STRUCT("text" TEXT)), 'text') AS "disease"
FROM ("recoded" INNER JOIN "kept" ON (("recoded"."class_id" = "kept"."class_id")))
WHERE ({query-4});
