-- The rows of the source that have not been read: arrived, digest, rows, late. `rows` is the number of equal present
-- rows less the number of equal rows that were read. Rows are late if all rows of their timestamp had been read, or if
-- a row of their timestamp has vanished, because they may be that row, changed or restored. tables: present(arrived,
-- digest, rows) the present rows of the source, read_before(arrived, digest, rows); parameters: $watermark, the
-- timestamp before which all rows have been read; $moment_over, whether a row with this timestamp had vanished before
WITH vanished AS (
  SELECT DISTINCT r.arrived
  FROM read_before AS r
  LEFT JOIN present AS p ON p.arrived = r.arrived AND p.digest = r.digest
  WHERE r.rows > coalesce(p.rows, 0)
)
SELECT p.arrived, p.digest, p.rows - coalesce(r.rows, 0) AS rows,
  coalesce(p.arrived < $watermark OR ($moment_over AND p.arrived = $watermark), false) OR p.arrived IN (SELECT v.arrived FROM vanished AS v) AS late
FROM present AS p
LEFT JOIN read_before AS r ON r.arrived = p.arrived AND r.digest = p.digest
WHERE p.rows > coalesce(r.rows, 0)
