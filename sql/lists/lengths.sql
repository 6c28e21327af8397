-- length, number: how many lists have so many different items, the longest first. NULL is an item.
SELECT length, count(*) AS number
FROM (
  SELECT list_id, count(*) AS length
  FROM (
    SELECT DISTINCT list_id, unnest(list) AS item FROM (SELECT row_number() OVER () AS list_id, list FROM listed) AS numbered
  ) AS item
  GROUP BY list_id
) AS listed_length
GROUP BY length
ORDER BY length DESC NULLS LAST
