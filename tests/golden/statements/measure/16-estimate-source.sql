-- Look for: how many rows and about how many different ones: the next stage takes by it one scan or rows counted
-- before.

SELECT COUNT(*), APPROX_COUNT_DISTINCT({'disease': "disease", 'dob': "dob", 'zip': "zip", 'sex': "sex"})
FROM "memory"."main"."patients";
