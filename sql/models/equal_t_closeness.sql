-- model: t_closeness
-- when: distance = equal (default)
-- title: In every equivalence class the sensitive values are distributed as in the whole release, up to a variational distance of t.
-- paper: Li, Li and Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity (2007), equal distance
-- parameter: t DECIMAL 0 1 -- the greatest distance of a class, 1/2 sum |p - q|
-- required: at most t
-- monotone: yes -- the distance is convex: that of a union is at most the mean of its parts' distances
-- monotone under suppression: no -- a union of a class within t and one beyond it can be beyond it
-- excess: size * (distance - t)
-- excess maximum: 1 - t - the smallest q: the distance of a class that holds the rarest value only
-- within: equal_nt_closeness with n = 1
-- reads: equivalence_class, class_sensitive_value, sensitive_value

-- As p and q sum to 1, 1/2 sum |p - q| = 1 - sum min(p, q), and the values that are present in the class
-- are enough; one that the baseline lacked would only add to the distance. A class of S rows in a release
-- of N, with n and m rows of a value, has S N distance = S N - sum min(nN, mS): integers, which a DOUBLE
-- holds and compares exactly below 2^53.
-- The excess: max(0, distance - t) is convex in p, so its greatest value is taken at a class of one value
-- s, whose distance is 1 - q(s). Times size it never grows when classes merge.

-- statement: achieved
WITH whole AS (
  SELECT CAST(sum(n) AS DOUBLE) AS total FROM sensitive_value
), class AS (
  SELECT s.class_id, max(w.total * CAST(c.size AS DOUBLE)) AS scale,
    sum(least(CAST(s.n AS DOUBLE) * w.total, CAST(coalesce(v.n, 0) AS DOUBLE) * CAST(c.size AS DOUBLE))) AS common
  FROM class_sensitive_value AS s
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  CROSS JOIN whole AS w
  LEFT JOIN sensitive_value AS v ON v.value = s.value
  GROUP BY s.class_id
)
SELECT max((scale - common) / nullif(scale, 0)) AS achieved FROM class

-- statement: violations
WITH whole AS (
  SELECT CAST(sum(n) AS DOUBLE) AS total, 1 - CAST(min(n) AS DOUBLE) / nullif(CAST(sum(n) AS DOUBLE), 0) AS farthest
  FROM sensitive_value
), class AS (
  SELECT s.class_id, max(c.size) AS size, max(w.total) AS total, max(w.farthest) - $t AS most,
    max(w.total * CAST(c.size AS DOUBLE)) AS scale,
    sum(least(CAST(s.n AS DOUBLE) * w.total, CAST(coalesce(v.n, 0) AS DOUBLE) * CAST(c.size AS DOUBLE))) AS common
  FROM class_sensitive_value AS s
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  CROSS JOIN whole AS w
  LEFT JOIN sensitive_value AS v ON v.value = s.value
  GROUP BY s.class_id
)
SELECT class_id, size, CASE
    WHEN most > 1e-9
    THEN CAST(size AS DOUBLE) * least(1, greatest(0, (scale - common) / nullif(scale, 0) - $t) / nullif(most, 0))
    ELSE CAST(0 AS DOUBLE)
  END AS excess
FROM class
WHERE CAST(scale - common AS DECIMAL(38, 0)) * $t_denominator > $t_numerator * CAST(scale AS DECIMAL(38, 0))
