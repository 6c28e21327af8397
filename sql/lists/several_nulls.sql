-- The number of lists with several NULLs. Nobody knows whether these are one item.
SELECT count(*)
FROM (
  SELECT list_id FROM (SELECT list_id, unnest(list) AS item FROM listed) AS occurring
  WHERE item IS NULL
  GROUP BY list_id
  HAVING count(*) > 1
) AS several
