-- value, n: the items that occur, and how many lists have each. An item that stands twice in a list counts once.
SELECT item AS value, count(*) AS n
FROM (SELECT DISTINCT list_id, unnest(list) AS item FROM listed) AS occurring
GROUP BY item
