SELECT {'dob': "dob", 'sex': "sex", 'zip': "zip"} AS "class_id", "disease" AS "value_0", COUNT(*) AS "n"
FROM "memory"."main"."__sqlanon_candidate_1"
GROUP BY "dob", "sex", "zip", "disease"
