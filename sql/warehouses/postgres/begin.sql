BEGIN;

-- A backslash in a text is one.
SET LOCAL standard_conforming_strings = on;
