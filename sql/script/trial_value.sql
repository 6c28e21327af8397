-- The number of rows of each bucket of each trial that have each value: class_id, the number of the bucket from base
-- on, value, n.
--
-- numbered: value, rank; value_start: value, buckets, base, spread, first, behind, as value_start.sql returns them. The
-- row of rank 2 of a value with spread 2 is the first of its other rows: it has the number behind.
SELECT class_id, value, CAST(count(*) AS BIGINT) AS n
FROM (
  SELECT start.base + ((CASE WHEN row.rank < start.spread THEN start.first + row.rank
    ELSE start.behind + row.rank - start.spread END) % start.buckets) AS class_id, start.value
  FROM numbered AS row
  JOIN value_start AS start ON row.value IS NOT DISTINCT FROM start.value
) AS dealt
GROUP BY class_id, value
