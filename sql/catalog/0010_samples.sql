-- The part of a population that a source is, and the column with the number of people that each of its rows stands for.

ALTER TABLE anon.policy ADD COLUMN sample VARCHAR;
ALTER TABLE anon.policy_attribute ADD COLUMN sampling_weight BOOLEAN;
