-- The leaves below labels: the distinct values of a column in the spans, each with the weight 1.
--
-- span: label, low, low_side, high, high_side, mask; value: value. A span with a mask has only texts of its length.
-- With {alike}, a column of value, the least of the values that are equal in it represents all of them, with their
-- number as its weight. point_down gives the point of a text, value_at the value at a point.
SELECT
  span.label,
  value_at($at) AS value,
  $weight AS weight,
  CAST(NULL AS DOUBLE) AS mean, CAST(NULL AS DOUBLE) AS square, NULL AS least, NULL AS greatest
FROM span
JOIN (
  SELECT point_down(CAST(value AS VARCHAR)) AS at, {alike}
  FROM value
  WHERE value IS NOT NULL
) AS point ON point.at >= span.low AND point.at <= span.high
WHERE (point.at > span.low OR span.low_side = 0) AND (point.at < span.high OR span.high_side = 1)
  AND (span.mask IS NULL OR length(CAST(point.at AS VARCHAR)) = length(span.mask))
GROUP BY {groups}
