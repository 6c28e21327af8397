-- Look for: the release is read once, counted by the labels of all columns that any query asks.

CREATE TEMPORARY TABLE "__sqlanon_labelled_1" AS
SELECT "label_0", "label_1", "label_2", "label_3", COUNT(*) AS "n"
FROM (
  SELECT "row"."dob" AS "label_0", "row"."zip" AS "label_1", "row"."disease" AS "label_2", "row"."sex" AS "label_3"
  FROM (SELECT * FROM "memory"."main"."hospital_release") AS "row"
) AS "labelled"
GROUP BY "label_0", "label_1", "label_2", "label_3";
