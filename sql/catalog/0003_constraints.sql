-- Confidentiality and visibility constraints of policies: sets of attributes, one row each.

CREATE TABLE anon.policy_constraint (
    policy VARCHAR NOT NULL,
    position INTEGER,
    kind VARCHAR NOT NULL,
    attributes VARCHAR NOT NULL
);
