-- The entries of a budget, the oldest first. parameter: the budget's id
SELECT asked_at, epsilon, delta, rho, query FROM anon.budget_entry WHERE budget_id = $1 ORDER BY asked_at ASC NULLS LAST, rowid ASC NULLS LAST
