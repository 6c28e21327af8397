-- The tuples that match buckets: is_original, buckets, n (the number of tuples, a DOUBLE).
--
-- joined: the {attributes} of each tuple that matches a bucket, for each of these; source: the {attributes} of the
-- source's rows. Tuples are grouped, so NULL is a value.
WITH either AS (
  SELECT {attributes}, true AS matches FROM joined
  UNION ALL
  SELECT {attributes}, false AS matches FROM source
), matched AS (
  SELECT bool_or(NOT matches) AS is_original, count(*) FILTER (WHERE matches) AS buckets
  FROM either
  GROUP BY {attributes}
  HAVING count(*) FILTER (WHERE matches) > 0
)
SELECT is_original, buckets, CAST(count(*) AS DOUBLE) AS n
FROM matched
GROUP BY is_original, buckets
