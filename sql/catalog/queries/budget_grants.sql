-- The grants of budgets that were not revoked, of readers that were not dropped, with whether each budget was dropped.
SELECT
  reader.reader_id,
  reader.reader,
  budget.budget_id,
  budget.budget,
  CASE WHEN budget.dropped_at IS NULL THEN 'granted' ELSE 'void: the budget was dropped' END AS state,
  grants.granted_at,
  reader.expires_on
FROM anon.reader AS reader
JOIN anon.budget_grant AS grants ON grants.reader_id = reader.reader_id
JOIN anon.budget AS budget ON budget.budget_id = grants.budget_id
WHERE reader.dropped_at IS NULL AND grants.revoked_at IS NULL
ORDER BY grants.rowid ASC NULLS LAST
