-- Policies, hierarchies, releases and measurements as rows of the user's own database.
--
-- Columns have defaults where a row may be written by hand; a row written by hand is
-- checked when it is used, by the code that checks a statement. That code also refuses
-- a name that stands twice, and no key does: a primary key takes Hospital and hospital
-- for two names, and a unique index over the folded name stops DuckDB from altering the
-- table in a later migration. Moments are UTC.

CREATE SCHEMA IF NOT EXISTS anon;

CREATE TABLE anon.schema_version (
    version INTEGER NOT NULL,
    slug VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    applied_at TIMESTAMP NOT NULL DEFAULT make_timestamp(epoch_us(current_timestamp))
);

CREATE TABLE anon.hierarchy (
    hierarchy VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    arguments VARCHAR DEFAULT '[]',
    options VARCHAR DEFAULT '{}',
    query VARCHAR,
    height INTEGER,
    created_at TIMESTAMP DEFAULT make_timestamp(epoch_us(current_timestamp))
);

CREATE TABLE anon.hierarchy_value (
    hierarchy VARCHAR NOT NULL,
    value VARCHAR,
    level INTEGER NOT NULL,
    label VARCHAR
);

CREATE TABLE anon.policy (
    policy VARCHAR NOT NULL,
    source VARCHAR,
    query VARCHAR,
    created_at TIMESTAMP DEFAULT make_timestamp(epoch_us(current_timestamp))
);

CREATE TABLE anon.policy_attribute (
    policy VARCHAR NOT NULL,
    position INTEGER,
    attribute VARCHAR NOT NULL,
    role VARCHAR NOT NULL,
    hierarchy VARCHAR,
    min_level INTEGER,
    max_level INTEGER,
    weight DECIMAL(18, 6) DEFAULT 1,
    pseudonym BOOLEAN DEFAULT false,
    key_variable VARCHAR
);

CREATE TABLE anon.policy_requirement (
    policy VARCHAR NOT NULL,
    position INTEGER,
    model VARCHAR NOT NULL,
    arguments VARCHAR DEFAULT '{}'
);

CREATE TABLE anon.release (
    release_id VARCHAR NOT NULL,
    schema_name VARCHAR NOT NULL,
    object_name VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    policy VARCHAR NOT NULL,
    policy_fingerprint VARCHAR NOT NULL,
    policy_json VARCHAR NOT NULL,
    method VARCHAR NOT NULL,
    method_arguments VARCHAR NOT NULL,
    source_rows BIGINT NOT NULL,
    released_rows BIGINT NOT NULL,
    suppressed_rows BIGINT NOT NULL,
    loss DOUBLE,
    nodes BIGINT,
    nodes_checked BIGINT,
    content_fingerprint VARCHAR,
    engine_version VARCHAR NOT NULL,
    sqlanon_version VARCHAR NOT NULL,
    created_at TIMESTAMP NOT NULL
);

CREATE TABLE anon.release_attribute (
    release_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    attribute VARCHAR NOT NULL,
    role VARCHAR NOT NULL,
    hierarchy VARCHAR,
    level INTEGER,
    height INTEGER,
    weight DECIMAL(18, 6) NOT NULL
);

CREATE TABLE anon.release_recoding (
    release_id VARCHAR NOT NULL,
    attribute VARCHAR NOT NULL,
    value VARCHAR,
    label VARCHAR
);

CREATE TABLE anon.release_object (
    release_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    schema_name VARCHAR NOT NULL,
    object_name VARCHAR NOT NULL
);

CREATE TABLE anon.measurement (
    release_id VARCHAR NOT NULL,
    release VARCHAR NOT NULL,
    question VARCHAR NOT NULL,
    attribute VARCHAR,
    required DOUBLE,
    achieved DOUBLE,
    satisfied BOOLEAN,
    measured_at TIMESTAMP NOT NULL DEFAULT make_timestamp(epoch_us(current_timestamp))
);
