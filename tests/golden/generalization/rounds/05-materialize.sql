-- Look for: "rounds" ends after the eighth; dob is the constant '*' and is joined to nothing; classes that are left
-- are asked by t-closeness against their own distribution, not the source's; "kept" is empty if anything still
-- violates.

CREATE SECURE VIEW "memory"."main"."__sqlanon_candidate_1" ("dob", "sex", "zip", "disease") AS
WITH RECURSIVE "source" AS NOT MATERIALIZED ({source}), "recode_1" AS ({recode_1}), "recode_2" AS (
  {recode_2-2(3)}
), "recoded" AS NOT MATERIALIZED (
  SELECT
    "system"."main"."+"(
      "system"."main"."<<"("recode_1"."code", 0), "system"."main"."<<"("recode_2"."code", 31)
    ) AS "class_id",
    "recode_1"."label" AS "label_1", "recode_2"."label" AS "label_2", "source"."disease" AS "column_3",
    "source"."disease" AS "asked_0"
  FROM (
    (
      "source"
        INNER JOIN "recode_1"
          ON ((("source"."sex" IS NOT DISTINCT FROM "recode_1"."value") AND ("recode_1"."code" < 2147483648)))
    )
    INNER JOIN "recode_2"
      ON ((("source"."zip" IS NOT DISTINCT FROM "recode_2"."value") AND ("recode_2"."code" < 2147483648)))
  )
), "class_value_0" AS ({class_value_0}), "equivalence_class" AS ({equivalence_class-3}), "sensitive_code_0" AS (
  {sensitive_code_0}
), "class_sensitive_value_0" AS ({class_sensitive_value_0-3}), "rounds" AS (
  ({equivalence_class-7})
  UNION ALL
  (
    WITH "round_equivalence_class" AS ({round_equivalence_class-2("rounds")}), "round_class_sensitive_value_0" AS (
      {round_class_sensitive_value_0-2("rounds")}
    ), "round_sensitive_value_0" AS ({round_sensitive_value_0("round_class_sensitive_value_0")}), "round_violating" AS (
      {violating("round_equivalence_class", "round_sensitive_value_0", "round_class_sensitive_value_0")}
    )
    SELECT "system"."main"."+"("round", 1) AS "round", "class_id"
    FROM "rounds"
    WHERE
      (
        (("class_id" IS NULL) OR (NOT ("class_id" = ANY (SELECT "class_id" FROM "round_violating"))))
        AND EXISTS(SELECT 1 FROM "round_violating") AND ("round" < 8)
      )
  )
), "remaining" AS ({remaining-2}), "remaining_equivalence_class" AS (
  {round_equivalence_class-2("remaining")}
), "remaining_class_sensitive_value_0" AS (
  {round_class_sensitive_value_0-2("remaining")}
), "remaining_sensitive_value_0" AS ({round_sensitive_value_0("remaining_class_sensitive_value_0")}), "violating" AS (
  {violating("remaining_equivalence_class", "remaining_sensitive_value_0", "remaining_class_sensitive_value_0")}
), "kept" AS ({kept-3})
SELECT
  '*' AS "dob", "recoded"."label_1" AS "sex", "recoded"."label_2" AS "zip",
  "system"."main".struct_extract(CAST("system"."main"."row"("recoded"."column_3") AS STRUCT("text" TEXT)), 'text') AS "disease"
FROM ("recoded" INNER JOIN "kept" ON (("recoded"."class_id" = "kept"."class_id")))
WHERE ({query-4});
