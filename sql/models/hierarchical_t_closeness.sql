-- model: t_closeness
-- when: distance = hierarchical
-- title: In every equivalence class the sensitive values are distributed as in the whole release, up to an earth mover's distance of t in their hierarchy.
-- paper: Li, Li and Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity (2007), hierarchical distance
-- parameter: t DECIMAL 0 1 -- the greatest distance of a class, where two values have the distance (height of their lowest common ancestor / height of the tree)
-- required: at most t
-- monotone: yes -- the distance is convex: that of a union is at most the mean of its parts' distances
-- monotone under suppression: no -- a union of a class within t and one beyond it can be beyond it
-- excess: size * (distance - t)
-- excess maximum: (the greatest distance of a class that holds one value only) - t
-- joint: no -- a hierarchy has no tuples of values
-- within: hierarchical_nt_closeness with n = 1
-- reads: equivalence_class, class_sensitive_value, sensitive_value, sensitive_ancestor

-- All leaves lie at one depth H, so the ground distance is the length of the path between two of them in
-- the tree if each edge is 1 / 2H long. In a tree the earth mover's distance is the sum over its edges of
-- length times what has to cross, |p - q| of the node below: the mean over the levels 0 to H - 1 of
-- 1/2 sum |p - q| over the level's nodes, which is 1 - sum min(p, q). (Tests compare this with the paper's
-- recursive cost.) Only nodes above values of the class add to it, so there is a row for those alone; a
-- value without ancestors would only add to the distance. Exact as for equal distance.
-- The excess: max(0, distance - t) is convex in p, so its greatest value is taken at a class of one value,
-- whose distance is the mean over the levels of 1 - q(its ancestor there).

-- shared: each statement begins with these relations
WITH whole AS (
  SELECT CAST(sum(n) AS DOUBLE) AS total FROM sensitive_value
), tree AS (
  SELECT CAST(coalesce(max(level), 0) + 1 AS DOUBLE) AS height FROM sensitive_ancestor
), branch AS (
  SELECT a.value, v.n, dense_rank() OVER (ORDER BY a.level ASC NULLS LAST, a.node ASC NULLS LAST) AS branch
  FROM sensitive_ancestor AS a
  JOIN sensitive_value AS v ON v.value = a.value
), baseline AS (
  SELECT value, branch, sum(n) OVER (PARTITION BY branch) AS n FROM branch
)

-- statement: achieved
, held AS (
  SELECT s.class_id, b.branch, CAST(sum(s.n) AS DOUBLE) AS n, CAST(coalesce(max(b.n), 0) AS DOUBLE) AS baseline_n
  FROM class_sensitive_value AS s
  LEFT JOIN baseline AS b ON b.value = s.value
  GROUP BY s.class_id, b.branch
), class AS (
  SELECT h.class_id, max(t.height * w.total * CAST(c.size AS DOUBLE)) AS scale,
    sum(least(h.n * w.total, h.baseline_n * CAST(c.size AS DOUBLE))) AS common
  FROM held AS h
  JOIN equivalence_class AS c ON c.class_id = h.class_id
  CROSS JOIN whole AS w
  CROSS JOIN tree AS t
  GROUP BY h.class_id
)
SELECT max((scale - common) / nullif(scale, 0)) AS achieved FROM class

-- statement: violations
, single AS (
  SELECT value, CAST(sum(n) AS DOUBLE) AS common FROM baseline GROUP BY value
), farthest AS (
  SELECT 1 - min(b.common / nullif(t.height * w.total, 0)) - $t AS most
  FROM single AS b
  CROSS JOIN whole AS w
  CROSS JOIN tree AS t
), held AS (
  SELECT s.class_id, b.branch, CAST(sum(s.n) AS DOUBLE) AS n, CAST(coalesce(max(b.n), 0) AS DOUBLE) AS baseline_n
  FROM class_sensitive_value AS s
  LEFT JOIN baseline AS b ON b.value = s.value
  GROUP BY s.class_id, b.branch
), class AS (
  SELECT h.class_id, max(c.size) AS size, max(t.height * w.total * CAST(c.size AS DOUBLE)) AS scale,
    sum(least(h.n * w.total, h.baseline_n * CAST(c.size AS DOUBLE))) AS common
  FROM held AS h
  JOIN equivalence_class AS c ON c.class_id = h.class_id
  CROSS JOIN whole AS w
  CROSS JOIN tree AS t
  GROUP BY h.class_id
)
SELECT c.class_id, c.size, CASE
    WHEN f.most > 1e-9
    THEN CAST(c.size AS DOUBLE)
      * least(1, greatest(0, (c.scale - c.common) / nullif(c.scale, 0) - $t) / nullif(f.most, 0))
    ELSE CAST(0 AS DOUBLE)
  END AS excess
FROM class AS c
CROSS JOIN farthest AS f
WHERE CAST(c.scale - c.common AS DECIMAL(38, 0)) * $t_denominator > $t_numerator * CAST(c.scale AS DECIMAL(38, 0))
