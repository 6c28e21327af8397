-- True, or an error if a temporary table or view has one of the names that a live view reads: DuckDB would read it
-- instead of the table for which the view was made. Functions are named in full, because a macro could replace them.
SELECT CASE WHEN system.main.count(*) = 0 THEN true ELSE system.main.error($message) END
FROM temporary
WHERE system.main.lower(name) IN ($names)
