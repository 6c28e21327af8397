-- class, list_id, code: the node of each item of each list, once. NULL is an item.
SELECT DISTINCT listed.class, listed.list_id, node.code
FROM (SELECT class, list_id, unnest(list) AS item FROM listed) AS listed
JOIN leaf ON leaf.value IS NOT DISTINCT FROM listed.item
JOIN node ON node.leaf = leaf.leaf
