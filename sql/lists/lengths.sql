-- length, number, counted: the number of lists of each length, the longest first, and the sum of the times that their
-- sets are counted. The length of a list is the number of its different items; NULL is an item.
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
