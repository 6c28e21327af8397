-- Jobs: scripts that were run to their end, and what they were run on, so that a run on the same rows has nothing to do.

CREATE TABLE anon.job (
    job VARCHAR NOT NULL,
    script_sha256 VARCHAR NOT NULL,
    inputs_sha256 VARCHAR NOT NULL,
    releases VARCHAR NOT NULL,
    exported_sha256 VARCHAR NOT NULL,
    finished_at TIMESTAMP NOT NULL DEFAULT make_timestamp(epoch_us(current_timestamp))
);
