-- The number of rows that were read and are no longer in the source, and whether one of them has the last timestamp.
-- table and parameter: as in unread.sql
SELECT coalesce(sum(c.read_rows - c.present_rows), 0)::BIGINT AS vanished_rows, coalesce(bool_or(c.arrived = $watermark), false) AS of_last_timestamp
FROM changed AS c
WHERE c.read_rows > c.present_rows
