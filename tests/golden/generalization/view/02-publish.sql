-- Look for:

DROP VIEW "main"."__sqlanon_candidate_1";
