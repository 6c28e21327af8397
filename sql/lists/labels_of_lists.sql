-- list_id, labels: what each list shows, in the order of the labels. Of a list without items there is no row.
SELECT labelled.list_id, list(node.label ORDER BY node.label ASC NULLS LAST) AS labels
FROM labelled
JOIN node ON node.code = labelled.code
GROUP BY labelled.list_id
