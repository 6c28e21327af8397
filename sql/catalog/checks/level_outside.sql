-- title: a value has a label at a level that the hierarchy does not have
-- parameter: $1 the hierarchy's name
-- parameter: $2 its height, the number of the top level
-- The top level, where every value is '*', is not stored.
SELECT offender, count(*) OVER () AS offenders
FROM (
    SELECT DISTINCT coalesce('''' || value || '''', 'NULL') || ' (level ' || level || ')' AS offender
    FROM anon.hierarchy_value
    WHERE hierarchy = $1 AND level NOT BETWEEN 0 AND $2 - 1
)
ORDER BY offender ASC NULLS LAST
LIMIT 10
