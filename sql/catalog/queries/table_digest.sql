-- The SHA-256 of the rows of a table that stands beside a live view, in whatever order they stand.
-- parameter: $1 a SELECT of its columns, in which nothing is shown as the session's settings have it
SELECT sha256(coalesce(string_agg(said, chr(10) ORDER BY encode(said) ASC NULLS LAST), '')) AS digest
FROM (SELECT to_json(held)::VARCHAR AS said FROM query($1) AS held)
