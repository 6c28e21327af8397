-- The limits of a budget, its spent amounts, and the sums of its entries. parameter: the budget's id
SELECT
  epsilon,
  delta,
  spent_epsilon,
  spent_delta,
  spent_rho,
  dropped_at IS NOT NULL AS is_dropped,
  entries_epsilon,
  entries_delta,
  entries_rho
FROM anon.budget,
  (
    SELECT
      coalesce(sum(entry.epsilon), 0) AS entries_epsilon,
      coalesce(sum(entry.delta), 0) AS entries_delta,
      coalesce(sum(entry.rho), 0) AS entries_rho
    FROM anon.budget_entry AS entry
    WHERE entry.budget_id = $1
  )
WHERE budget_id = $1
