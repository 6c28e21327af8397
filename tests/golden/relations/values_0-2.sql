SELECT
  COUNT(*) AS "n", MIN("quasi_0") = MAX("quasi_0") AS "same_0", MIN("quasi_1") = MAX("quasi_1") AS "same_1",
  MIN("quasi_0") AS "first_0", MIN("quasi_1") AS "first_1"
FROM "hashed"
WHERE NOT {#1} IS NULL AND {#1} % 1 = 0
GROUP BY {#1}
