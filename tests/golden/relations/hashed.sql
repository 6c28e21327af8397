SELECT
  CASE WHEN NOT "disease" IS NULL THEN hash("disease") END AS "value_0", hash({#1}) AS "quasi_0",
  hash("sex") AS "quasi_1", hash("zip") AS "quasi_2"
FROM {#2}."main".{#3}
LIMIT 20000
