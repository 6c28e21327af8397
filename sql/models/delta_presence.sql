-- model: delta_presence
-- title: In every class, a share between min and max of the public table's rows is in the release.
-- paper: Nergiz, Atzori and Clifton, Hiding the presence of individuals from shared databases (2007)
-- parameter: min DECIMAL 0 1 -- the least share of the public rows of a class that are in the release
-- parameter: max DECIMAL 0 1 -- the greatest share of the public rows of a class that are in the release
-- required: at most max
-- monotone: yes -- the share of a union lies between the shares of the parts
-- monotone under suppression: no -- a union of a satisfying class and another can violate
-- excess: above max: size - max * public rows; below min: no number of withheld rows is enough
-- excess maximum: 1
-- reads: equivalence_class, public_class

-- Every class of the public table counts, those without a row in the release included: they violate
-- with size 0 if min > 0. A class of the release that the public table lacks is above every max.
-- `achieved` is the largest share of a class of the release.
-- Shares are compared as integers, multiplied by the bound's denominator, exactly below 2^53.
-- The excess above max is linear in the two counts, so its positive part never grows when classes
-- merge, and it is at most size. Below min withholding rows makes it worse, which 9e15 stands for: of
-- two classes whose union is below min one is below min itself.

-- statement: achieved
SELECT max(CASE WHEN coalesce(p.n, 0) = 0 THEN CAST('infinity' AS DOUBLE)
  ELSE CAST(c.size AS DOUBLE) / nullif(CAST(p.n AS DOUBLE), 0) END) AS achieved
FROM equivalence_class AS c
LEFT JOIN public_class AS p ON p.class_id = c.class_id

-- statement: violations
WITH counted AS (
  SELECT coalesce(c.class_id, p.class_id) AS class_id, coalesce(c.size, 0) AS size,
    CAST(coalesce(c.size, 0) AS DOUBLE) AS released, CAST(coalesce(p.n, 0) AS DOUBLE) AS public
  FROM equivalence_class AS c
  FULL JOIN public_class AS p ON p.class_id = c.class_id
)
SELECT class_id, size,
  CASE WHEN CAST(released AS DECIMAL(38, 0)) * $min_denominator < $min_numerator * CAST(public AS DECIMAL(38, 0))
    THEN CAST(9e15 AS DOUBLE)
    ELSE greatest(released - public * $max_numerator / nullif($max_denominator, 0), 0) END AS excess
FROM counted
WHERE CAST(released AS DECIMAL(38, 0)) * $min_denominator < $min_numerator * CAST(public AS DECIMAL(38, 0))
  OR CAST(released AS DECIMAL(38, 0)) * $max_denominator > $max_numerator * CAST(public AS DECIMAL(38, 0))
  OR (public = 0 AND released > 0)
