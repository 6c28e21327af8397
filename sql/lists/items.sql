-- value, n: each item that occurs, and the number of lists with it. An item that a list has twice counts once.
SELECT item AS value, count(*) AS n
FROM (SELECT DISTINCT list_id, unnest(list) AS item FROM listed) AS occurring
GROUP BY item
