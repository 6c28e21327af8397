SELECT "value", "n", CASE WHEN "n" > 0 THEN 1 ELSE 0 END AS "leaf"
FROM (
  SELECT "value", "n"
  FROM (SELECT {#1} AS "value", COUNT(*) AS "n" FROM {#2}."main".{#3} GROUP BY {#1}) AS "occurring"
) AS "generalized"
