SELECT
  CASE
    WHEN "system"."main".count(*) = 0 THEN TRUE
    ELSE "system"."main".error(
      'sqlanon: a temporary table or view is called visits, as what this view reads; run DROP TABLE "temp"."visits", DROP VIEW "temp"."visits", or unregister it if it is a data frame'
    )
  END
FROM (
  SELECT "table_name" AS "name"
  FROM "system"."main".duckdb_tables()
  WHERE "database_name" = 'temp'
  UNION ALL
  SELECT "view_name"
  FROM "system"."main".duckdb_views()
  WHERE "database_name" = 'temp'
) AS "temporary"
WHERE "system"."main".lower("name") IN ("system"."main".lower('visits'))
