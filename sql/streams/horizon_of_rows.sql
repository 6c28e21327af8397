-- The last row that may leave with each waiting one: that before the row whose arrival is beyond its delay. NULL while it is not due.
-- tables: waiting(position, arrived); parameters: $delay, $position of the last row that was read, $to_end
SELECT w.position,
  CASE WHEN $to_end OR w.position + $delay - 1 <= $position THEN least(w.position + $delay - 1, $position) END AS horizon
FROM waiting AS w
