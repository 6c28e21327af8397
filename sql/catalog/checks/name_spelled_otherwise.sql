-- title: values are stored under another spelling of the hierarchy's name
-- parameter: $1 the hierarchy's name
SELECT offender, count(*) OVER () AS offenders
FROM (
    SELECT DISTINCT '''' || hierarchy || '''' AS offender
    FROM anon.hierarchy_value
    WHERE
        hierarchy <> $1
        AND translate(hierarchy, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
        = translate($1, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')
)
ORDER BY offender ASC NULLS LAST
LIMIT 10
