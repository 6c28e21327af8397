-- The labels of the classes in one column, each with its own label and the label of all rows: class_id, level, label,
-- node.
--
-- equivalence_class: class_id; $label is the class's label, an expression over class_id. The level of the own label is
-- $own, that of all rows, whose label is NULL, is $top. node is NULL. Two classes have four rows.
SELECT class_id, CAST($own AS BIGINT) AS level, $label AS label, CAST(NULL AS BIGINT) AS node FROM equivalence_class
UNION ALL
SELECT class_id, CAST($top AS BIGINT) AS level, CASE WHEN FALSE THEN $label END AS label, CAST(NULL AS BIGINT) AS node
FROM equivalence_class
