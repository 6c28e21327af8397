-- Look for:

SELECT
  COUNT(*),
  APPROX_COUNT_DISTINCT({'disease': "disease", 'dob': "dob", 'zip': "zip", 'sex': "sex"})
FROM "memory"."main"."patients";
