-- Look for: cells find their region by their own values, with NULL as a value, and so do rows; no recode_i; class_id is
-- the region's class; the guard stands here too, though no region violates.

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT *
FROM ({released-2(3)}) AS "released"
ORDER BY udf(0) ASC NULLS LAST;
