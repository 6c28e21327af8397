-- Readers who may query releases through a door, and the releases that each of them was granted.

CREATE TABLE anon.reader (
    reader_id VARCHAR NOT NULL,
    reader VARCHAR NOT NULL,
    token_sha256 VARCHAR NOT NULL,
    expires_on DATE,
    created_at TIMESTAMP NOT NULL DEFAULT make_timestamp(epoch_us(current_timestamp)),
    dropped_at TIMESTAMP
);

CREATE TABLE anon.reader_grant (
    reader_id VARCHAR NOT NULL,
    release_id VARCHAR NOT NULL,
    schema_name VARCHAR NOT NULL,
    object_name VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    method VARCHAR,
    sources VARCHAR,
    granted_at TIMESTAMP NOT NULL DEFAULT make_timestamp(epoch_us(current_timestamp)),
    revoked_at TIMESTAMP
);
