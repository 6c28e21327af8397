-- list_id, labels: the labels that each list shows, in their order. A list without items has no row.
SELECT labelled.list_id, list(node.label ORDER BY node.label ASC NULLS LAST) AS labels
FROM labelled
JOIN node ON node.code = labelled.code
GROUP BY labelled.list_id
