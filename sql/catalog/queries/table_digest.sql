-- The SHA-256 of the rows of a table beside a live view, in any order. parameter: $1 a SELECT of its columns, whose
-- texts do not depend on the session's settings
SELECT sha256(coalesce(string_agg(line, chr(10) ORDER BY encode(line) ASC NULLS LAST), '')) AS digest
FROM (SELECT to_json(held)::VARCHAR AS line FROM query($1) AS held)
