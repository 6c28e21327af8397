SELECT
  CASE WHEN NOT "disease" IS NULL THEN hash("disease") END AS "value_0", hash("dob") AS "quasi_0",
  hash("sex") AS "quasi_1", hash("zip") AS "quasi_2"
FROM {#1}."main".{#2}
LIMIT 20000
