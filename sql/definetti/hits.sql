-- The guesses with the share of the source's rows for which they are right: bucket, confidence, hit.
--
-- named: bucket, row_id, code, confidence; learned_row: row_id and the {parts} of a row; bucket_value: code and value;
-- person: {parts} and value of the source's rows. A guess for a row is right for the people with equal parts who have
-- the guessed value.
WITH truth AS (
  SELECT {parts}, value, count(*) AS n, sum(count(*)) OVER (PARTITION BY {parts}) AS size
  FROM person
  GROUP BY {parts}, value
), named_value AS (
  SELECT DISTINCT code, value FROM bucket_value
)
SELECT
  named.bucket,
  named.confidence,
  coalesce(CAST(truth.n AS DOUBLE) / CAST(truth.size AS DOUBLE), 0) AS hit
FROM named
JOIN learned_row AS learned ON named.row_id = learned.row_id
JOIN named_value ON named.code = named_value.code
LEFT JOIN truth ON {learned.parts} IS NOT DISTINCT FROM {truth.parts}
  AND named_value.value IS NOT DISTINCT FROM truth.value
