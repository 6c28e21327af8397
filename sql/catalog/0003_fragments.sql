-- Releases of several tables: which of them a column and an object belong to, and which column of the
-- source is behind a column of another name; NULL for a release of one table or view, and for the objects that stand
-- beside one. Sets of attributes that policies keep apart, or want together. Workloads, aggregate
-- queries over a source, and the error of a release's answers to them.

ALTER TABLE anon.release_attribute ADD COLUMN fragment VARCHAR;
ALTER TABLE anon.release_attribute ADD COLUMN source VARCHAR;
ALTER TABLE anon.release_object ADD COLUMN fragment VARCHAR;

CREATE TABLE anon.workload (
    workload VARCHAR NOT NULL,
    query_id BIGINT NOT NULL,
    sql VARCHAR NOT NULL
);

CREATE TABLE anon.query_error (
    release_id VARCHAR NOT NULL,
    workload VARCHAR NOT NULL,
    query_id BIGINT NOT NULL,
    groups VARCHAR NOT NULL,
    result VARCHAR NOT NULL,
    actual DOUBLE,
    estimated DOUBLE,
    stderr DOUBLE,
    low DOUBLE,
    high DOUBLE,
    relative_error DOUBLE,
    within BOOLEAN,
    outcome VARCHAR NOT NULL
);

CREATE TABLE anon.policy_constraint (
    policy VARCHAR NOT NULL,
    position INTEGER,
    kind VARCHAR NOT NULL,
    attributes VARCHAR NOT NULL
);
