-- The files that a path or a pattern matches.
SELECT file
FROM glob($1)
