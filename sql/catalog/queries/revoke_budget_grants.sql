-- Revokes the standing grants of a reader on budgets: all of them, or those on one budget.
-- parameters: the reader's id, and the budget's id or NULL
UPDATE anon.budget_grant
SET revoked_at = make_timestamp(epoch_us(current_timestamp))
WHERE reader_id = $1 AND revoked_at IS NULL AND ($2 IS NULL OR budget_id = $2)
RETURNING 1
