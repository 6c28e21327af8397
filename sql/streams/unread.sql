-- Which rows of the source have not been read: of each timestamp and digest as many as there are more of them than were read. They are late
-- if all rows of their timestamp had been read; so they are where one of that timestamp has vanished, for they may be that one, changed or put back.
-- tables: present(arrived, digest, rows) the rows of the source as they are now, read_before(arrived, digest, rows);
-- parameters: $watermark, the timestamp before which all rows have been read; $moment_over, whether one of that timestamp had vanished before
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
