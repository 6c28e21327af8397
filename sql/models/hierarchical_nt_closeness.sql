-- model: nt_closeness
-- when: distance = hierarchical
-- title: Every equivalence class has a broader class of at least n rows whose sensitive values have the same distribution, up to an earth mover's distance of t in their hierarchy.
-- paper: Li, Li and Venkatasubramanian, Closeness: a new privacy measure for data publishing (2010), (n,t)-closeness; hierarchical distance
-- parameter: n BIGINT 1 1000000000000 -- the least number of rows of a broader class that a class is compared with
-- parameter: t DECIMAL 0 1 -- the greatest distance of a class from its nearest broader class: the mean over the levels of 1/2 sum |p - q|
-- required: at most t
-- enough rows: n -- a class is one of its own broader classes, at a distance of 0
-- monotone: no -- of four classes like their broader class, two that merge may differ from each broader class of n rows
-- monotone under suppression: no -- the rows that are withheld are missing from the broader classes
-- excess: 0: merging classes can create violations, so no excess is certain in advance
-- excess maximum: 1
-- whole release: yes -- the broader classes have rows of other classes
-- joint: no -- tuples of values have no hierarchy
-- reads: equivalence_class, class_sensitive_value, sensitive_ancestor, superset

-- A broader class has all rows below one vector of labels that are at least as general. superset(class_id, superset_id)
-- has the broader classes of each class, including the class itself. achieved is the greatest distance of a class from the
-- nearest broader class of n rows; it is infinite if there is none.
-- The distance is the mean of the variational distances of the nodes at each level. A class of S rows in a broader one
-- of N, with n and m rows below a node, has H S N distance = H S N - sum min(nN, mS) over the nodes of H levels: whole
-- numbers.

-- shared: each statement begins with these relations
WITH above AS (
  SELECT s.superset_id, v.value, CAST(sum(v.n) AS DOUBLE) AS n
  FROM superset AS s
  JOIN class_sensitive_value AS v ON v.class_id = s.class_id
  GROUP BY s.superset_id, v.value
), large AS (
  SELECT superset_id, sum(n) AS total FROM above GROUP BY superset_id HAVING sum(n) >= $n
), tree AS (
  SELECT CAST(coalesce(max(level), 0) + 1 AS DOUBLE) AS height FROM sensitive_ancestor
), below AS (
  SELECT a.superset_id, b.level, b.node, sum(a.n) AS n
  FROM above AS a
  JOIN sensitive_ancestor AS b ON b.value = a.value
  GROUP BY a.superset_id, b.level, b.node
), held AS (
  SELECT v.class_id, b.level, b.node, CAST(sum(v.n) AS DOUBLE) AS n
  FROM class_sensitive_value AS v
  JOIN sensitive_ancestor AS b ON b.value = v.value
  GROUP BY v.class_id, b.level, b.node
), paired AS (
  SELECT s.class_id, s.superset_id, max(t.height * l.total * CAST(c.size AS DOUBLE)) AS scale,
    sum(least(h.n * l.total, a.n * CAST(c.size AS DOUBLE))) AS common
  FROM superset AS s
  JOIN large AS l ON l.superset_id = s.superset_id
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  JOIN held AS h ON h.class_id = s.class_id
  JOIN below AS a ON a.superset_id = s.superset_id AND a.level = h.level AND a.node = h.node
  CROSS JOIN tree AS t
  GROUP BY s.class_id, s.superset_id
)

-- statement: achieved
, nearest AS (
  SELECT class_id, min((scale - common) / nullif(scale, 0)) AS distance FROM paired GROUP BY class_id
)
SELECT max(coalesce(n.distance, CAST('infinity' AS DOUBLE))) AS achieved
FROM equivalence_class AS c
LEFT JOIN nearest AS n ON n.class_id = c.class_id

-- statement: violations
, nearest AS (
  SELECT class_id, max(CASE
      WHEN CAST(scale - common AS DECIMAL(38, 0)) * $t_denominator <= $t_numerator * CAST(scale AS DECIMAL(38, 0))
      THEN 1 ELSE 0 END) AS is_close
  FROM paired
  GROUP BY class_id
)
SELECT c.class_id, c.size, CAST(0 AS DOUBLE) AS excess
FROM equivalence_class AS c
LEFT JOIN nearest AS n ON n.class_id = c.class_id
WHERE coalesce(n.is_close, 0) = 0
