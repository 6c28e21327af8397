-- The catalog: the tables of the schema anon, as docs/catalog.md describes them.

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
    created_at TIMESTAMP DEFAULT make_timestamp(epoch_us(current_timestamp)),
    against VARCHAR,
    against_query VARCHAR,
    pivoted VARCHAR,
    joined VARCHAR,
    bound VARCHAR,
    against_bound VARCHAR
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
    "pseudonym" BOOLEAN DEFAULT false,
    key_variable VARCHAR,
    related_table VARCHAR
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
    loss DOUBLE NOT NULL,
    nodes BIGINT,
    nodes_checked BIGINT,
    content_fingerprint VARCHAR,
    engine_version VARCHAR NOT NULL,
    sqlanon_version VARCHAR NOT NULL,
    created_at TIMESTAMP NOT NULL,
    nodes_pruned BIGINT,
    proven_optimal BOOLEAN,
    loss_bound DOUBLE,
    loss_name VARCHAR NOT NULL,
    sources VARCHAR NOT NULL,
    digest VARCHAR
);

CREATE TABLE anon.release_attribute (
    release_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    attribute VARCHAR NOT NULL,
    role VARCHAR NOT NULL,
    hierarchy VARCHAR,
    level INTEGER,
    height INTEGER,
    weight DECIMAL(18, 6) NOT NULL,
    fragment VARCHAR,
    source VARCHAR,
    reading VARCHAR NOT NULL
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
    object_name VARCHAR NOT NULL,
    fragment VARCHAR,
    digest VARCHAR
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
    spread DOUBLE,
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

CREATE TABLE anon.release_export (
    release_id VARCHAR,
    schema_name VARCHAR NOT NULL,
    object_name VARCHAR NOT NULL,
    method VARCHAR,
    sources VARCHAR,
    format VARCHAR,
    exported_at TIMESTAMP DEFAULT make_timestamp(epoch_us(current_timestamp))
);

CREATE TABLE anon.release_figure (
    release_id VARCHAR NOT NULL,
    figure VARCHAR NOT NULL,
    attribute VARCHAR,
    value DOUBLE,
    measured_at TIMESTAMP NOT NULL DEFAULT make_timestamp(epoch_us(current_timestamp))
);

CREATE TABLE anon.candidate (
    frontier VARCHAR NOT NULL,
    number BIGINT NOT NULL,
    policy VARCHAR NOT NULL,
    policy_fingerprint VARCHAR NOT NULL,
    method VARCHAR NOT NULL,
    arguments VARCHAR NOT NULL,
    requirement VARCHAR NOT NULL,
    figure VARCHAR NOT NULL,
    value DOUBLE,
    efficient BOOLEAN NOT NULL DEFAULT false,
    statement VARCHAR,
    reason VARCHAR,
    measured_at TIMESTAMP NOT NULL DEFAULT make_timestamp(epoch_us(current_timestamp))
);

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
    published_at TIMESTAMP NOT NULL DEFAULT make_timestamp(epoch_us(current_timestamp)),
    checksum VARCHAR
);

CREATE TABLE anon.series_member (
    series_id VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    class_no BIGINT NOT NULL,
    respondent UUID NOT NULL
);

CREATE TABLE anon.stream (
    stream_id VARCHAR NOT NULL,
    schema_name VARCHAR NOT NULL,
    object_name VARCHAR NOT NULL,
    policy VARCHAR NOT NULL,
    policy_fingerprint VARCHAR NOT NULL,
    order_column VARCHAR NOT NULL,
    columns VARCHAR NOT NULL,
    published VARCHAR NOT NULL,
    quasi_identifiers VARCHAR NOT NULL,
    k BIGINT NOT NULL,
    delay VARCHAR NOT NULL,
    reuse BOOLEAN NOT NULL,
    salt VARCHAR NOT NULL,
    sources VARCHAR NOT NULL,
    batch BIGINT NOT NULL,
    position BIGINT NOT NULL,
    watermark VARCHAR,
    moment_over BOOLEAN NOT NULL DEFAULT false,
    created_at TIMESTAMP NOT NULL DEFAULT make_timestamp(epoch_us(current_timestamp))
);

CREATE TABLE anon.stream_batch (
    stream_id VARCHAR NOT NULL,
    batch BIGINT NOT NULL,
    read_rows BIGINT NOT NULL,
    released_rows BIGINT NOT NULL,
    reused_rows BIGINT NOT NULL,
    withheld_rows BIGINT NOT NULL,
    late_rows BIGINT NOT NULL,
    vanished_rows BIGINT NOT NULL,
    waiting_rows BIGINT NOT NULL,
    classes BIGINT NOT NULL,
    digest VARCHAR NOT NULL,
    advanced_at TIMESTAMP NOT NULL DEFAULT make_timestamp(epoch_us(current_timestamp))
);

CREATE TABLE anon.stream_member (
    stream_id VARCHAR NOT NULL,
    batch BIGINT NOT NULL,
    class_no BIGINT NOT NULL,
    reused BOOLEAN NOT NULL,
    respondent UUID NOT NULL
);

CREATE TABLE anon.policy_related_table (
    policy VARCHAR NOT NULL,
    position INTEGER,
    related_table VARCHAR NOT NULL,
    source VARCHAR,
    query VARCHAR,
    key_column VARCHAR NOT NULL,
    bound VARCHAR
);

CREATE TABLE anon.job (
    job VARCHAR NOT NULL,
    script_sha256 VARCHAR NOT NULL,
    inputs_sha256 VARCHAR NOT NULL,
    releases VARCHAR NOT NULL,
    exported_sha256 VARCHAR NOT NULL,
    finished_at TIMESTAMP NOT NULL DEFAULT make_timestamp(epoch_us(current_timestamp))
);

CREATE TABLE anon.series_class (
    series_id VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    class_no BIGINT NOT NULL,
    attribute VARCHAR NOT NULL,
    value_set UUID NOT NULL
);

CREATE TABLE anon.series_value (
    series_id VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    value_set UUID NOT NULL,
    attribute VARCHAR NOT NULL,
    value VARCHAR,
    n BIGINT NOT NULL
);
