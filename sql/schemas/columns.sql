-- The columns of the relations in PostgreSQL's pg_class, in their order, with their types.
SELECT
  space.nspname AS schema_name,
  class.relname AS table_name,
  attribute.attname AS name,
  CASE WHEN attribute.attgenerated = '' THEN format_type(attribute.atttypid, attribute.atttypmod) ELSE 'generated' END
    AS kind
FROM pg_catalog.pg_attribute AS attribute
JOIN pg_catalog.pg_class AS class ON class.oid = attribute.attrelid
JOIN pg_catalog.pg_namespace AS space ON space.oid = class.relnamespace
WHERE attribute.attnum > 0 AND NOT attribute.attisdropped
ORDER BY class.relname ASC NULLS LAST, attribute.attnum ASC NULLS LAST
