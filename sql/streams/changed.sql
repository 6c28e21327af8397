-- The rows that the source has another number of times than they were read: arrived, digest, present_rows, read_rows.
--
-- tables: present(arrived, digest, rows) the present rows of the source; read_before(arrived, digest, rows)
SELECT
  coalesce(p.arrived, r.arrived) AS arrived,
  coalesce(p.digest, r.digest) AS digest,
  coalesce(p.rows, 0) AS present_rows,
  coalesce(r.rows, 0) AS read_rows
FROM present AS p
FULL JOIN read_before AS r ON p.arrived = r.arrived AND p.digest = r.digest
WHERE p.rows IS DISTINCT FROM r.rows
