-- Look for: released rows counted by the labels that the condition needs (dob) and by what is known exactly (disease,
-- sex), which is evaluated here, once; the last query asks whether NULLs make a part unknown.

CREATE TEMPORARY TABLE "__sqlanon_class_1" AS
SELECT ROW_NUMBER() OVER () AS "id", *, CAST("label_0" AS TEXT) AS "text_0"
FROM (
  SELECT "label_0", "part_0", "part_1", COUNT(*) AS "n"
  FROM (
    SELECT
      "row"."dob" AS "label_0", CAST(("row"."disease" = 'H1N1') AS BOOLEAN) AS "part_0", TRY("row"."sex") AS "part_1"
    FROM (SELECT * FROM "memory"."main"."hospital_release") AS "row"
  ) AS "labelled"
  GROUP BY "label_0", "part_0", "part_1"
) AS "counted";

SELECT BOOL_OR(CAST("part_0" IS NULL AS BOOLEAN)), BOOL_OR(CAST("part_1" IS NULL AS BOOLEAN))
FROM "__sqlanon_class_1" AS "part";
