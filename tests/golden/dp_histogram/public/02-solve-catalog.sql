-- Look for: the cost is committed on a connection of its own before the rows are counted.

-- Spends from a budget, and returns a row, or returns no row if the budget would be exceeded. The UPDATE conflicts with
-- an UPDATE of another transaction, so that two cannot both pass the comparison. The budget's accounting determines the
-- compared amounts. parameters: the budget's id, epsilon, delta, rho, and the greatest sum of rho
UPDATE anon.budget
SET
  spent_epsilon = spent_epsilon + CAST($2 AS DECIMAL(38, 18)),
  spent_delta = spent_delta + CAST($3 AS DECIMAL(38, 18)),
  spent_rho = spent_rho + CAST($4 AS DECIMAL(38, 18))
WHERE
  budget_id = $1
  AND dropped_at IS NULL
  AND CASE accounting
    WHEN 'basic' THEN spent_epsilon + CAST($2 AS DECIMAL(38, 18)) <= epsilon
    WHEN 'zcdp' THEN spent_rho + CAST($4 AS DECIMAL(38, 18)) <= CAST($5 AS DECIMAL(38, 18))
    ELSE false
  END
  AND spent_delta + CAST($3 AS DECIMAL(38, 18)) <= delta
RETURNING spent_epsilon, spent_rho;

INSERT INTO "anon"."budget_entry" ("budget_id", "query", "epsilon", "delta", "rho", "reader_id")
VALUES (?, ?, ?, ?, ?, ?);
