-- The SHA-256 of the rows of a table that stands beside a live view, in whatever order they stand.
-- parameter: $1 the table's name, quoted as SQL needs it
SELECT sha256(coalesce(string_agg(said, chr(10) ORDER BY encode(said) ASC NULLS LAST), '')) AS digest
FROM (SELECT to_json(held)::VARCHAR AS said FROM query_table($1) AS held)
