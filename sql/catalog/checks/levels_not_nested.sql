-- title: a label lies in more than one label of the next level
-- parameter: $1 the hierarchy's name
SELECT offender, count(*) OVER () AS offenders
FROM (
    SELECT
        '''' || child || ''' (level ' || level || ') in ''' || min(parent) || ''' and ''' || max(parent) || '''' AS offender
    FROM (
        SELECT level, label AS child, lead(label) OVER (PARTITION BY value ORDER BY level ASC NULLS LAST) AS parent
        FROM anon.hierarchy_value
        WHERE hierarchy = $1
    )
    GROUP BY child, level
    HAVING min(parent) <> max(parent)
)
ORDER BY offender ASC NULLS LAST
LIMIT 10
