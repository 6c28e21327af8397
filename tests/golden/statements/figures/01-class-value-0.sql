-- Look for: the rows of each class with each value, the one reading of the release.

CREATE TEMPORARY TABLE "__sqlanon_class_value_0_1" AS
SELECT
  {'dob': "dob", 'sex': "sex", 'zip': "zip"} AS "class_id",
  "disease" AS "value_0",
  COUNT(*) AS "n"
FROM "memory"."main"."hospital_release"
GROUP BY
  "dob",
  "sex",
  "zip",
  "disease";
