-- Budgets from which readers may spend through a door, and the reader who has spent an entry.

CREATE TABLE anon.budget_grant (
    reader_id VARCHAR NOT NULL,
    budget_id VARCHAR NOT NULL,
    granted_at TIMESTAMP NOT NULL DEFAULT make_timestamp(epoch_us(current_timestamp)),
    revoked_at TIMESTAMP
);

ALTER TABLE anon.budget_entry ADD COLUMN reader_id VARCHAR;
