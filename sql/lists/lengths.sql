-- length, number, counted: how many lists have so many different items, and how often their sets are counted in all, the
-- longest first. NULL is an item.
SELECT length, count(*) AS number, sum(times) AS counted
FROM (
  SELECT list_id, count(*) AS length, max(times) AS times
  FROM (
    SELECT DISTINCT list_id, times, unnest(list) AS item
    FROM (SELECT row_number() OVER () AS list_id, list, times FROM listed) AS numbered
  ) AS item
  GROUP BY list_id
) AS listed_length
GROUP BY length
ORDER BY length DESC NULLS LAST
