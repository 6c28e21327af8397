-- The number of stated counterfeits, and the number of buckets that do not fit: stated, misfits; one row.
--
-- A bucket does not fit if it has no number or several ranges, if no respondent is in it, or if its stated counterfeits
-- are not the rows without a respondent. `nobody`, the number of these rows, is NULL if the respondents are unknown.
SELECT coalesce(sum(stated), 0) AS stated,
  coalesce(sum(CASE WHEN bucket IS NOT NULL AND shown = 1 AND stated >= 0 AND stated < n AND coalesce(nobody = stated, true) THEN 0 ELSE 1 END), 0) AS misfits
FROM (
  SELECT bucket, sum(n) AS n, sum(shown) AS shown, sum(stated) AS stated, sum(nobody) AS nobody
  FROM (
    SELECT bucket, count(*) AS n, count(DISTINCT ranges) AS shown, 0 AS stated, sum(nobody) AS nobody FROM row_of_bucket GROUP BY bucket
    UNION ALL
    SELECT bucket, 0 AS n, 0 AS shown, counterfeits AS stated, NULL AS nobody FROM counterfeits_of_bucket
  ) AS each
  GROUP BY bucket
) AS bucket_sums
