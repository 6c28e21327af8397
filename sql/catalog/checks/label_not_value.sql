-- title: a label at level 0 is not the value itself
-- parameter: $1 the hierarchy's name
SELECT offender, count(*) OVER () AS offenders
FROM (
    SELECT DISTINCT coalesce('''' || value || '''', 'NULL') AS offender
    FROM anon.hierarchy_value
    WHERE hierarchy = $1 AND level = 0 AND value IS DISTINCT FROM label
)
ORDER BY offender ASC NULLS LAST
LIMIT 10
