-- The mask that is published in place of an identifier; NULL for columns without one.

ALTER TABLE anon.policy_attribute ADD COLUMN mask VARCHAR;
