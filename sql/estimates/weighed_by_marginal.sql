-- The leaves with the weights of a marginal: label, value, weight, mean, square, least, greatest.
--
-- leaf: label, value and the moments; marginal: value and weight (a frequency). A value that the marginal lacks is
-- possible, with weight 0. The moments of pieces without weight may be too large to be multiplied by it.
SELECT
  leaf.label, leaf.value,
  coalesce(marginal.weight, CAST(0.0 AS DOUBLE)) AS weight,
  CASE WHEN coalesce(marginal.weight, CAST(0.0 AS DOUBLE)) > 0 THEN leaf.mean END AS mean,
  CASE WHEN coalesce(marginal.weight, CAST(0.0 AS DOUBLE)) > 0 THEN leaf.square END AS square,
  leaf.least, leaf.greatest
FROM leaf
LEFT JOIN marginal ON leaf.value IS NOT DISTINCT FROM marginal.value
