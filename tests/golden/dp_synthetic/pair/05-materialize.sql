-- Look for: no table of this step has a row of the source.

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT *
FROM (SELECT "c0" AS "sex", "c1" AS "age" FROM "__sqlanon_synthetic_1") AS "released"
ORDER BY udf(0) ASC NULLS LAST;
