-- What MEASURE found of a release against its source: the owner's, and no description of the release, which
-- anon.measurement has and a digest seals.

CREATE TABLE anon.release_figure (
    release_id VARCHAR NOT NULL,
    figure VARCHAR NOT NULL,
    attribute VARCHAR,
    value DOUBLE,
    measured_at TIMESTAMP NOT NULL DEFAULT make_timestamp(epoch_us(current_timestamp))
);
