-- Streams: rows that are published in classes, no later than a given delay after they have arrived.
--
-- A stream has three tables beside these, which have the types of its source: stream_read_<stream_id> has the moment and a digest of
-- each row of the source that was read, stream_waiting_<stream_id> the rows that wait, stream_label_<stream_id> the classes
-- that were published. Like those, stream_member is as secret as the source: it says under which label each respondent was published.

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
