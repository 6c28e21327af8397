-- What the adversary of a requirement knows, as a table of the user's says.

CREATE TABLE anon.release_known_triple (
    release_id VARCHAR NOT NULL,
    requirement INTEGER NOT NULL,
    value VARCHAR,
    l BIGINT NOT NULL,
    k BIGINT NOT NULL,
    m BIGINT NOT NULL
);
