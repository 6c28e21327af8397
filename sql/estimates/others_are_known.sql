-- Whether enough rows, all but one in $rows_per_star, have labels whose leaves have known weights.
--
-- labels: label and n, the rows that show it; known: the table of weighed_labels.sql.
SELECT coalesce(coalesce(known.n, 0) * $rows_per_star >= released.n * ($rows_per_star - 1), false)
FROM (
  SELECT sum(labelled.n) AS n FROM labels AS labelled JOIN known ON known.label IS NOT DISTINCT FROM labelled.label
) AS known
CROSS JOIN (SELECT sum(n) AS n FROM labels) AS released
