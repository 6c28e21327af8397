-- Budgets of answers with noise, and what was spent of each.

CREATE TABLE anon.budget (
    budget_id VARCHAR NOT NULL,
    budget VARCHAR NOT NULL,
    policy VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    entity VARCHAR,
    epsilon DECIMAL(38, 18) NOT NULL,
    delta DECIMAL(38, 18) NOT NULL,
    spent_epsilon DECIMAL(38, 18) NOT NULL DEFAULT 0,
    spent_delta DECIMAL(38, 18) NOT NULL DEFAULT 0,
    salt VARCHAR NOT NULL,
    created_at TIMESTAMP NOT NULL DEFAULT make_timestamp(epoch_us(current_timestamp)),
    dropped_at TIMESTAMP
);

CREATE TABLE anon.budget_entry (
    budget_id VARCHAR NOT NULL,
    query VARCHAR NOT NULL,
    epsilon DECIMAL(38, 18) NOT NULL,
    delta DECIMAL(38, 18) NOT NULL,
    asked_at TIMESTAMP NOT NULL DEFAULT make_timestamp(epoch_us(current_timestamp))
);
