BEGIN;

-- Names resolve to PostgreSQL's own functions and operators, and to the temporary tables of the steps, never to another schema.
SET LOCAL search_path = pg_catalog, pg_temp;

-- A backslash in a text is an ordinary character.
SET LOCAL standard_conforming_strings = on;
