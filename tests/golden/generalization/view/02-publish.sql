-- Look for: the candidate's DROP: DuckDB does not rename such a view, so it is made once more, by the same text under
-- its own name, before this.

DROP VIEW "main"."__sqlanon_candidate_1";
