-- A division by zero, which ends the transaction, is: the rows do not satisfy the requirements, nothing is published.
SELECT 1 / CASE
    WHEN (SELECT count(*) FROM "sqlanon_check_violation") = 0
      AND (SELECT count(*) FROM "sqlanon_check_row") = (SELECT count(*) FROM "sqlanon_candidate") THEN 1
    ELSE 0
  END AS requirements_are_satisfied;
