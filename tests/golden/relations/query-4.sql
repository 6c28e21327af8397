SELECT
  CASE
    WHEN (("system"."main".count_star() = 0)) THEN (TRUE)
    ELSE "system"."main"."error"(
      'sqlanon: a temporary table or view is called patients, as what this view reads; run DROP TABLE "temp"."patients", DROP VIEW "temp"."patients", or unregister it if it is a data frame'
    )
  END
FROM (
  (SELECT "table_name" AS "name" FROM "system"."main".duckdb_tables() WHERE ("database_name" = 'temp'))
  UNION ALL
  (SELECT "view_name" FROM "system"."main".duckdb_views() WHERE ("database_name" = 'temp'))
) AS "temporary"
WHERE ("system"."main".lower("name") IN ("system"."main".lower('patients')))
