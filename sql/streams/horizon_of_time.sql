-- The last row that may be in a class with each waiting row: the last that arrived before its delay was over. NULL
-- while the waiting row is not due. tables: waiting(position, arrived); parameters: $delay, $watermark, the timestamp
-- before which all rows have been read, $to_end
WITH timestamp AS (
  SELECT arrived, max(position) AS position FROM waiting GROUP BY arrived
)
SELECT w.position, CASE WHEN $to_end OR w.arrived + $delay <= $watermark THEN m.position END AS horizon
FROM waiting AS w
ASOF JOIN timestamp AS m ON w.arrived + $delay > m.arrived
