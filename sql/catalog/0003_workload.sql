-- Workloads: aggregate queries over a source, by which the error of its releases is measured.

CREATE TABLE anon.workload (
    workload VARCHAR NOT NULL,
    query_id BIGINT NOT NULL,
    sql VARCHAR NOT NULL
);
