-- The leaves, and below each starred label all values of the marginal and of other labels, with weight 0.
--
-- leaf: label, value, weight and the moments; marginal: value; starred: label.
SELECT label, value, weight, mean, square, least, greatest FROM leaf
UNION ALL
SELECT
  star.label, other.value,
  CAST(0.0 AS DOUBLE) AS weight,
  CAST(NULL AS DOUBLE) AS mean, CAST(NULL AS DOUBLE) AS square, NULL AS least, NULL AS greatest
FROM starred AS star
CROSS JOIN (SELECT value FROM leaf UNION SELECT value FROM marginal) AS other
WHERE NOT EXISTS (
  SELECT known_leaf.value
  FROM leaf AS known_leaf
  WHERE known_leaf.label = star.label AND known_leaf.value IS NOT DISTINCT FROM other.value
)
