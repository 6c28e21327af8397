-- Of the tuples that match a bucket of a release, of original ones, which the source has, and of fake ones: how many there
-- are, and how many buckets they match (Li, Li, Zhang and Molloy, Slicing, 2012, sections 5 and 6.3). A row of
-- matched_tuples says that n of them match so many buckets.
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
