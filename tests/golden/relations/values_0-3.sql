SELECT
  COUNT(*) AS "n", MIN("quasi_0") = MAX("quasi_0") AS "same_0", MIN("quasi_1") = MAX("quasi_1") AS "same_1",
  MIN("quasi_2") = MAX("quasi_2") AS "same_2", MIN("quasi_0") AS "first_0", MIN("quasi_1") AS "first_1",
  MIN("quasi_2") AS "first_2"
FROM "hashed"
WHERE NOT "value_0" IS NULL AND "value_0" % 1 = 0
GROUP BY "value_0"
