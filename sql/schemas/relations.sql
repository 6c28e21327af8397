-- The relations in pg_class of each PostgreSQL schema, and why each is not an ordinary table with its own rows:
-- schema_name, name, oddity, NULL for an ordinary table. The query reads no row of a relation, and runs no code of any
-- user.
SELECT
  space.nspname AS schema_name,
  class.relname AS name,
  CASE
    WHEN class.relkind <> 'r' THEN 'is not an ordinary table'
    WHEN class.relpersistence <> 'p' THEN 'is not a table that outlasts a crash'
    WHEN class.relrowsecurity OR class.relforcerowsecurity THEN 'has row-level security'
    WHEN class.relhasrules THEN 'has rules'
    WHEN class.relispartition OR class.oid IN (
      SELECT inhrelid FROM pg_catalog.pg_inherits UNION ALL SELECT inhparent FROM pg_catalog.pg_inherits
    ) THEN 'shares rows or columns with another table'
  END AS oddity
FROM pg_catalog.pg_class AS class
JOIN pg_catalog.pg_namespace AS space ON space.oid = class.relnamespace
