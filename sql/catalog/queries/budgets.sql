-- All budgets, with the number of entries of each.
SELECT
  budget,
  policy,
  epsilon,
  spent_epsilon,
  delta,
  spent_delta,
  (SELECT count(*) FROM anon.budget_entry AS entry WHERE entry.budget_id = budget.budget_id) AS entries,
  dropped_at IS NOT NULL AS is_dropped,
  accounting,
  spent_rho
FROM anon.budget
ORDER BY created_at ASC NULLS LAST, budget ASC NULLS LAST
