-- Policies whose releases are made so that a join with another release tells little: a JSON object with the name of that release
-- and the columns that it shares. NULL for a policy without one.

ALTER TABLE anon.policy ADD COLUMN joined VARCHAR;
