-- What a budget has, what was spent of it, and the sums of its entries. parameter: the budget's id
SELECT
  epsilon,
  delta,
  spent_epsilon,
  spent_delta,
  spent_rho,
  dropped_at IS NOT NULL AS is_dropped,
  (SELECT coalesce(sum(entry.epsilon), 0) FROM anon.budget_entry AS entry WHERE entry.budget_id = budget.budget_id),
  (SELECT coalesce(sum(entry.delta), 0) FROM anon.budget_entry AS entry WHERE entry.budget_id = budget.budget_id),
  (SELECT coalesce(sum(entry.rho), 0) FROM anon.budget_entry AS entry WHERE entry.budget_id = budget.budget_id)
FROM anon.budget
WHERE budget_id = $1
