BEGIN;

-- Functions and operators are PostgreSQL's own, and steps are temporary tables: no schema of anybody else's is looked into.
SET LOCAL search_path = pg_catalog, pg_temp;

-- A backslash in a text is one.
SET LOCAL standard_conforming_strings = on;
