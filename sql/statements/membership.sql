-- The number of original tuples, which the source has, and of fake tuples that match a bucket of a release, and the
-- number of buckets that they match (Li, Li, Zhang and Molloy, Slicing, 2012, sections 5 and 6.3). matched_tuples has a
-- row for the n tuples that match an equal number of buckets.
SELECT
  is_original,
  sum(n) AS tuples,
  sum(n * buckets) / sum(n) AS matching_buckets,
  sum(CASE WHEN buckets <= 10 THEN n ELSE 0.0 END) / sum(n) AS at_most_10,
  sum(CASE WHEN buckets BETWEEN 11 AND 20 THEN n ELSE 0.0 END) / sum(n) AS from_11_to_20,
  sum(CASE WHEN buckets > 20 THEN n ELSE 0.0 END) / sum(n) AS above_20
FROM matched_tuples
WHERE n > 0
GROUP BY is_original
