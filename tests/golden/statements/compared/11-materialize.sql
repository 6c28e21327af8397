-- Look for: the method that was chosen alone makes a table.

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT *
FROM ({released-2(7)}) AS "released"
ORDER BY udf(0) ASC NULLS LAST;
