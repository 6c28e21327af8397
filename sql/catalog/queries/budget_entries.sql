-- The entries of a budget, the oldest first, with the reader who has spent each. parameter: the budget's id
SELECT
  entry.asked_at,
  entry.epsilon,
  entry.delta,
  entry.rho,
  entry.query,
  (SELECT any_value(reader.reader) FROM anon.reader AS reader WHERE reader.reader_id = entry.reader_id) AS reader
FROM anon.budget_entry AS entry
WHERE entry.budget_id = $1
ORDER BY entry.asked_at ASC NULLS LAST, entry.rowid ASC NULLS LAST
