-- Look for: the candidate's DROP. A view is not renamed: it is made once more under its own name, by the text of
-- 01-materialize, right after this.

DROP VIEW "memory"."main"."__sqlanon_candidate_1";
