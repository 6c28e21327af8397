-- The lists from which masks were chosen: another list under the same key gives other names.

CREATE TABLE anon.release_choice (
    release_id VARCHAR NOT NULL,
    attribute VARCHAR NOT NULL,
    list_name VARCHAR NOT NULL,
    key_variable VARCHAR,
    digest VARCHAR NOT NULL
);
