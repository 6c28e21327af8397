-- What FRONTIER measured of the candidates of a policy, none of which was published: a row for each candidate and figure.
-- A candidate that could not be made, or not be measured, has values that are NULL, and the reason in words.

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
