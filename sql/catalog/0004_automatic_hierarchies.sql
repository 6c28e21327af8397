-- The policy for which USING AUTO made a hierarchy; NULL for those that users made.

ALTER TABLE anon.hierarchy ADD COLUMN made_for VARCHAR;
