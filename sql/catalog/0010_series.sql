-- Releases of one policy that are published one after the other, and who was in which class of each: the ledger.
--
-- A respondent is a keyed digest, so that the ledger outlives the rows of the source. Whoever has it and the key, or can
-- guess who is meant, learns what each release says of a person: it is as secret as the source, and never exported.
-- The digest of a release is over its own rows of the ledger and the digest before it, which is that of what the series
-- requires for the first one. That of a series is its last release's.

CREATE TABLE anon.series (
    series_id VARCHAR NOT NULL,
    series VARCHAR NOT NULL,
    policy VARCHAR NOT NULL,
    entity VARCHAR NOT NULL,
    entity_type VARCHAR NOT NULL,
    attributes VARCHAR NOT NULL,
    key_variable VARCHAR NOT NULL,
    key_check VARCHAR NOT NULL,
    digest VARCHAR NOT NULL,
    created_at TIMESTAMP NOT NULL DEFAULT make_timestamp(epoch_us(current_timestamp))
);

CREATE TABLE anon.series_requirement (
    series_id VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    model VARCHAR NOT NULL,
    arguments VARCHAR NOT NULL
);

CREATE TABLE anon.series_release (
    series_id VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    release_id VARCHAR NOT NULL,
    schema_name VARCHAR NOT NULL,
    object_name VARCHAR NOT NULL,
    members BIGINT NOT NULL,
    digest VARCHAR NOT NULL,
    published_at TIMESTAMP NOT NULL DEFAULT make_timestamp(epoch_us(current_timestamp))
);

CREATE TABLE anon.series_member (
    series_id VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    class_no BIGINT NOT NULL,
    respondent UUID NOT NULL
);

CREATE TABLE anon.series_value (
    series_id VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    class_no BIGINT NOT NULL,
    attribute VARCHAR NOT NULL,
    value VARCHAR,
    n BIGINT NOT NULL
);
