-- What the models beyond k-anonymity and the search need: a policy's public table, what a
-- live view's guard reads besides its source, and how far the search came.
--
-- Columns that are added to a table may be NULL, so that rows written before, and rows
-- written by hand without them, stay what they are.

ALTER TABLE anon.policy ADD COLUMN against VARCHAR;
ALTER TABLE anon.policy ADD COLUMN against_query VARCHAR;

ALTER TABLE anon.release ADD COLUMN nodes_pruned BIGINT;
ALTER TABLE anon.release ADD COLUMN proven_optimal BOOLEAN;
ALTER TABLE anon.release ADD COLUMN loss_bound DOUBLE;
ALTER TABLE anon.release ADD COLUMN loss_name VARCHAR;

CREATE TABLE anon.release_taxonomy (
    release_id VARCHAR NOT NULL,
    attribute VARCHAR NOT NULL,
    value VARCHAR,
    level INTEGER NOT NULL,
    label VARCHAR
);

CREATE TABLE anon.release_value_range (
    release_id VARCHAR NOT NULL,
    requirement INTEGER NOT NULL,
    value VARCHAR,
    low DOUBLE,
    high DOUBLE
);

CREATE TABLE anon.release_round (
    release_id VARCHAR NOT NULL,
    round INTEGER NOT NULL,
    attribute VARCHAR NOT NULL,
    level INTEGER NOT NULL,
    rows BIGINT NOT NULL
);
