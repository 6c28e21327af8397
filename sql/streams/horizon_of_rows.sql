-- The last row that may be in a class with each waiting row: the row before the one whose arrival ends its delay. NULL
-- while the waiting row is not due. tables: waiting(position, arrived); parameters: $delay, $position of the last row
-- that was read, $to_end
SELECT w.position,
  CASE WHEN $to_end OR w.position + $delay - 1 <= $position THEN least(w.position + $delay - 1, $position) END AS horizon
FROM waiting AS w
