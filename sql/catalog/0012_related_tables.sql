-- Tables that belong to the source of a policy, with the column that says whose a row is, and which of them an attribute
-- is a column of; NULL for the source's own.

CREATE TABLE anon.policy_related_table (
    policy VARCHAR NOT NULL,
    position INTEGER,
    related_table VARCHAR NOT NULL,
    source VARCHAR,
    query VARCHAR,
    key_column VARCHAR NOT NULL
);

ALTER TABLE anon.policy_attribute ADD COLUMN related_table VARCHAR;
