-- title: a value has a row without a label
-- parameter: $1 the hierarchy's name
-- Only the value NULL is its own label, at level 0.
SELECT offender, count(*) OVER () AS offenders
FROM (
    SELECT DISTINCT coalesce('''' || value || '''', 'NULL') || ' (level ' || level || ')' AS offender
    FROM anon.hierarchy_value
    WHERE hierarchy = $1 AND label IS NULL AND NOT (level = 0 AND value IS NULL)
)
ORDER BY offender ASC NULLS LAST
LIMIT 10
