SELECT
  COUNT(*) AS "n", MIN(hash({#1})) = MAX(hash({#1})) AS "same_0",
  MIN(CASE WHEN NOT {#1} IS NULL THEN hash({#1}) END) = MAX(CASE WHEN NOT {#1} IS NULL THEN hash({#1}) END)
  AND COUNT({#1}) < COUNT(*) AS "known_0"
FROM "memory"."main".{#2}
GROUP BY "bucket"
