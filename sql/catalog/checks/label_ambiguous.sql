-- title: a value has more than one label at a level
-- parameter: $1 the hierarchy's name
SELECT offender, count(*) OVER () AS offenders
FROM (
    SELECT coalesce('''' || value || '''', 'NULL') || ' (level ' || level || ')' AS offender
    FROM anon.hierarchy_value
    WHERE hierarchy = $1
    GROUP BY value, level
    HAVING count(*) > 1
)
ORDER BY offender ASC NULLS LAST
LIMIT 10
