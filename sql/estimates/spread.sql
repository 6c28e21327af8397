-- The leaves, where `starred` labels get the values of all other rows, as frequently as these occur there.
--
-- leaves: label, value, moments, weight; labels: label and n, the rows that show it; known: the table of
-- weighed_labels.sql. The former leaves of starred labels get the weight 0; their moments are NULL, because they may be
-- too large to be multiplied by it.
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
