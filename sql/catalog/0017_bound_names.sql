-- The tables and views that the names of a policy meant when it was made: a JSON list of names, those of this database by schema and name, of a
-- relation its own first. NULL where nobody knows: then a name means what DuckDB finds when it is read.

ALTER TABLE anon.policy ADD COLUMN bound VARCHAR;
ALTER TABLE anon.policy ADD COLUMN against_bound VARCHAR;
ALTER TABLE anon.policy_related_table ADD COLUMN bound VARCHAR;
