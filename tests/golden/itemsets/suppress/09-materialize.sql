-- Look for: the sensitive list is published as it is; a list of which no item is left is empty. The order is random.

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT *
FROM (
  SELECT COALESCE("shown"."labels", CAST([] AS TEXT[])) AS "codes", "row"."column_1" AS "diagnoses"
  FROM "__sqlanon_row_1" AS "row"
  LEFT JOIN ({shown}) AS "shown" ON "shown"."list_id" = "row"."list_id"
) AS "released"
ORDER BY udf(0) ASC NULLS LAST;
