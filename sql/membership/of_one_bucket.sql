-- The tuples that match the only bucket: is_original, buckets, n (a DOUBLE), where every combination of values matches.
--
-- original: a row for each tuple of the source that matches; $most is the number of all tuples.
WITH counted AS (
  SELECT CAST(count(*) AS DOUBLE) AS n FROM original
)
SELECT true AS is_original, 1 AS buckets, n FROM counted
UNION ALL
SELECT false AS is_original, 1 AS buckets, $most - n AS n FROM counted
