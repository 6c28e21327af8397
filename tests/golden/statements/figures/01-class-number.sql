-- Look for: classes become numbers: what reads them joins and groups by these, and not by structs of values.

CREATE TEMPORARY TABLE "__sqlanon_class_number_1" AS
SELECT "key_0", "key_1", "key_2", ROW_NUMBER() OVER () AS "class_id"
FROM (
  SELECT "dob" AS "key_0", "sex" AS "key_1", "zip" AS "key_2", "disease" AS "value_0"
  FROM "memory"."main"."hospital_release"
) AS "released"
GROUP BY "key_0", "key_1", "key_2";
