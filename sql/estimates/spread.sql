-- The leaves, with the values of the other rows below `starred` labels, as frequent as they are there.
--
-- leaves: label, value, moments, weight; labels: label and n, the rows that show it; known: that of weighed_labels.sql.
-- The leaves that starred labels had before weigh nothing; the moments of these may be too large to be multiplied by it.
SELECT label, value, CAST(NULL AS DOUBLE) AS mean, CAST(NULL AS DOUBLE) AS square, least, greatest,
  CAST(0.0 AS DOUBLE) AS weight
FROM leaves
WHERE coalesce(label IN (SELECT label FROM starred), false)
UNION ALL
SELECT label, value, mean, square, least, greatest, weight
FROM leaves
WHERE NOT coalesce(label IN (SELECT label FROM starred), false)
UNION ALL
SELECT star.label, each.value, each.mean, each.square, each.least, each.greatest, each.weight
FROM starred AS star
CROSS JOIN (
  SELECT value, mean, square, least, greatest, sum(weight) AS weight
  FROM (
    SELECT leaf.value, leaf.mean, leaf.square, leaf.least, leaf.greatest, leaf.weight * labelled.n / known.total AS weight
    FROM leaves AS leaf
    JOIN known ON leaf.label IS NOT DISTINCT FROM known.label
    JOIN (SELECT label, sum(n) AS n FROM labels GROUP BY label) AS labelled
      ON leaf.label IS NOT DISTINCT FROM labelled.label
  ) AS weighed
  GROUP BY value, mean, square, least, greatest
) AS each
