-- The methods that were compared for a release whose statement named none.

CREATE TABLE anon.release_comparison (
    release_id VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    method VARCHAR NOT NULL,
    arguments VARCHAR NOT NULL,
    chosen BOOLEAN NOT NULL,
    reason VARCHAR,
    loss DOUBLE,
    error DOUBLE,
    suppressed_rows BIGINT,
    sampled_rows BIGINT,
    compared_at TIMESTAMP NOT NULL
);
