-- Look for: the rows of each class with each value; no figure reads the release again.

CREATE TEMPORARY TABLE "__sqlanon_class_value_0_1" AS
SELECT "class_id", "value_0" AS "value_0", COUNT(*) AS "n"
FROM (
  SELECT "class_number"."class_id", "released"."value_0"
  FROM (
    SELECT "dob" AS "key_0", "sex" AS "key_1", "zip" AS "key_2", "disease" AS "value_0"
    FROM "memory"."main"."hospital_release"
  ) AS "released"
  JOIN "__sqlanon_class_number_1" AS "class_number"
    ON "released"."key_0" IS NOT DISTINCT FROM "class_number"."key_0"
    AND "released"."key_1" IS NOT DISTINCT FROM "class_number"."key_1"
    AND "released"."key_2" IS NOT DISTINCT FROM "class_number"."key_2"
) AS "numbered"
GROUP BY "class_id", "value_0";
