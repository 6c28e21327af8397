-- The tables and views that a name without a schema can mean.
SELECT DISTINCT table_name AS relation_name
FROM information_schema.tables
WHERE table_schema NOT IN ('anon', 'information_schema') AND NOT starts_with(table_name, '__sqlanon_')
ORDER BY relation_name ASC NULLS LAST
