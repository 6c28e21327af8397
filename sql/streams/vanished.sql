-- The number of rows that were read and are no longer in the source, and whether one of them has the last timestamp.
-- tables and parameter: as in unread.sql
SELECT coalesce(sum(r.rows - coalesce(p.rows, 0)), 0)::BIGINT AS vanished_rows, coalesce(bool_or(r.arrived = $watermark), false) AS of_last_timestamp
FROM read_before AS r
LEFT JOIN present AS p ON p.arrived = r.arrived AND p.digest = r.digest
WHERE r.rows > coalesce(p.rows, 0)
