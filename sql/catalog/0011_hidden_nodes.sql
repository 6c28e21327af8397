-- The nodes of its hierarchy that a sensitive column hides, as a JSON list; NULL for columns that hide none.

ALTER TABLE anon.policy_attribute ADD COLUMN hide VARCHAR;
