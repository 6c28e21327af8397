-- Numbers buckets: number, bucket and label. Buckets that have the same values equally often share a number.
--
-- distinct_label: label, a bucket of the rows; value: bucket and the columns {values} of its values with their weight.
WITH content AS (
  SELECT bucket, list_sort(list($content)) AS content
  FROM value
  GROUP BY bucket
)
SELECT
  CAST(dense_rank() OVER (ORDER BY content.content ASC NULLS LAST) AS INTEGER) AS number,
  CAST(row_number() OVER () AS INTEGER) AS bucket,
  distinct_label.label
FROM distinct_label
LEFT JOIN content ON distinct_label.label IS NOT DISTINCT FROM content.bucket
