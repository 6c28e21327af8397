-- Look for: the rows are in the order of the labels, which anybody may know.

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT "c0" AS "sex", "n"
FROM "__sqlanon_histogram_1"
ORDER BY "c0" ASC NULLS LAST;
