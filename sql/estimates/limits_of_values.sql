-- The limits of buckets; buckets whose values an aggregate adds up are components by themselves.
--
-- bucket_limit: the rows of bucket_limits.sql. $of_values tells whether an aggregate (number) adds up values of
-- buckets, and $of_place whether the bucket is at the place of these values: buckets elsewhere do not bound them.
SELECT
  CASE WHEN $of_values THEN CAST(bucket AS VARCHAR) ELSE CAST(component AS VARCHAR) END AS component,
  place, key, number, possible, open, satisfying, failing, apart,
  whole AND (NOT $of_values OR places = 1) AS whole
FROM bucket_limit
WHERE NOT $of_values OR $of_place
