-- The objects of a PostgreSQL schema that pg_class does not list: functions, types, operators and others.
SELECT space.nspname AS schema_name, pg_describe_object(held.classid, held.objid, held.objsubid) AS name
FROM pg_catalog.pg_depend AS held
JOIN pg_catalog.pg_class AS holder ON holder.oid = held.refclassid AND holder.relname = 'pg_namespace'
JOIN pg_catalog.pg_namespace AS space ON space.oid = held.refobjid
JOIN pg_catalog.pg_class AS kind ON kind.oid = held.classid
WHERE kind.relname NOT IN ('pg_class', 'pg_default_acl', 'pg_publication_namespace')
