-- The written rows whose bucket has values, under the number of their bucket: class_id.
--
-- candidate, candidate_value: bucket. A row whose bucket has no row in candidate_value is left out.
SELECT candidate.bucket AS class_id
FROM candidate
JOIN (SELECT DISTINCT bucket FROM candidate_value) AS values ON candidate.bucket = values.bucket
