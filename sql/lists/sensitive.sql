-- class, list_id, value: the numbers of the sensitive items of each list, each once, and 0 once for each list.
WITH occurring AS (
  SELECT DISTINCT class, list_id, unnest(sensitive) AS item FROM listed
), code AS (
  SELECT item, row_number() OVER () AS value FROM (SELECT DISTINCT item FROM occurring) AS different
)
SELECT occurring.class, occurring.list_id, code.value
FROM occurring
JOIN code ON occurring.item IS NOT DISTINCT FROM code.item
UNION ALL
SELECT class, list_id, 0 AS value FROM listed
