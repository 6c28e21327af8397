-- The rows of the source that have not been read: arrived, digest, rows, late. `rows` is the number of equal present
-- rows less the number of equal rows that were read. Rows are late if all rows of their timestamp had been read, or if
-- a row of their timestamp has vanished, because they may be that row, changed or restored. table: changed(arrived,
-- digest, present_rows, read_rows) as in changed.sql; parameters: $watermark, the timestamp before which all rows have
-- been read; $moment_over, whether a row with this timestamp had vanished before
SELECT c.arrived, c.digest, c.present_rows - c.read_rows AS rows,
  coalesce(c.arrived < $watermark OR ($moment_over AND c.arrived = $watermark), false)
    OR c.arrived IN (SELECT v.arrived FROM changed AS v WHERE v.read_rows > v.present_rows) AS late
FROM changed AS c
WHERE c.present_rows > c.read_rows
