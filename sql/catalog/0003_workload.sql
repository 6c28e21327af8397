-- Workloads: aggregate queries over a source, by which the error of its releases is measured.

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
