-- title: a value has no label at some level below the top
-- parameter: $1 the hierarchy's name
-- parameter: $2 its height, the number of the top level
SELECT offender, count(*) OVER () AS offenders
FROM (
    SELECT coalesce('''' || value || '''', 'NULL') AS offender
    FROM anon.hierarchy_value
    WHERE hierarchy = $1
    GROUP BY value
    HAVING count(DISTINCT level) < $2
)
ORDER BY offender ASC NULLS LAST
LIMIT 10
