-- What pg_class of PostgreSQL lists of each schema, and what each is other than a table with rows of its own: NULL for
-- such a table. No row of any of them is read for it, and nothing that belongs to a user is run.
SELECT
  space.nspname AS schema_name,
  class.relname AS name,
  CASE
    WHEN class.relkind <> 'r' THEN 'is no ordinary table'
    WHEN class.relpersistence <> 'p' THEN 'is no table that outlasts a crash'
    WHEN class.relrowsecurity OR class.relforcerowsecurity THEN 'has row-level security'
    WHEN class.relhasrules THEN 'has rules'
    WHEN class.relispartition OR class.oid IN (
      SELECT inhrelid FROM pg_catalog.pg_inherits UNION ALL SELECT inhparent FROM pg_catalog.pg_inherits
    ) THEN 'shares rows or columns with another table'
  END AS oddity
FROM pg_catalog.pg_class AS class
JOIN pg_catalog.pg_namespace AS space ON space.oid = class.relnamespace
