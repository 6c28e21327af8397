-- Look for: a list without items is empty, not NULL; labels stand in their own order, and rows in a random one.

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT *
FROM (
  SELECT COALESCE("shown"."labels", CAST([] AS TEXT[])) AS "codes"
  FROM "__sqlanon_row_1" AS "row"
  LEFT JOIN ({shown}) AS "shown" ON "shown"."list_id" = "row"."list_id"
) AS "released"
ORDER BY udf(0) ASC NULLS LAST;
