-- model: nt_closeness
-- when: distance = jensen_shannon
-- title: Every equivalence class has a broader class of at least n rows whose sensitive values have the same distribution, up to a Jensen-Shannon divergence of t.
-- paper: Li and Li, On the tradeoff between privacy and utility in data publishing (2009); (n,t)-closeness: Li, Li and Venkatasubramanian (2010)
-- parameter: n BIGINT 1 1000000000000 -- the least number of rows of a broader class that a class is compared with
-- parameter: t DECIMAL 0 1 -- the greatest divergence of a class from its nearest broader class, in natural logarithms: at most ln 2
-- required: at most t
-- enough rows: n -- a class is one of its own broader classes, at a distance of 0
-- monotone: no -- of four classes like their broader class, two that merge may differ from each broader class of n rows
-- monotone under suppression: no -- the rows that are withheld are missing from the broader classes
-- excess: 0: merging classes can create violations, so no excess is certain in advance
-- excess maximum: 1
-- whole release: yes -- the broader classes have rows of other classes
-- reads: equivalence_class, class_sensitive_value, superset

-- A broader class has all rows below one vector of labels that are at least as general. superset(class_id, superset_id)
-- has the broader classes of each class, including the class itself. achieved is the greatest distance of a class from the
-- nearest broader class of n rows; it is infinite if there is none.
-- The divergence is that of t-closeness: the values present in the class, and the share of the broader class that
-- they make up, are enough. Sums of logarithms round: within 1e-12 of t a class violates, unless it is distributed as a
-- broader one, which its counts tell.

-- shared: each statement begins with these relations
WITH above AS (
  SELECT s.superset_id, v.value, CAST(sum(v.n) AS DOUBLE) AS n
  FROM superset AS s
  JOIN class_sensitive_value AS v ON v.class_id = s.class_id
  GROUP BY s.superset_id, v.value
), large AS (
  SELECT superset_id, sum(n) AS total FROM above GROUP BY superset_id HAVING sum(n) >= $n
), compared AS (
  SELECT s.class_id, s.superset_id, l.total, CAST(c.size AS DOUBLE) AS size, a.n, CAST(v.n AS DOUBLE) * l.total AS own,
    a.n * CAST(c.size AS DOUBLE) AS expected
  FROM superset AS s
  JOIN large AS l ON l.superset_id = s.superset_id
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  JOIN class_sensitive_value AS v ON v.class_id = s.class_id
  JOIN above AS a ON a.superset_id = s.superset_id AND a.value = v.value
), paired AS (
  SELECT class_id, superset_id,
    CASE WHEN sum(n) < max(total) THEN 1 ELSE max(CASE WHEN own <> expected THEN 1 ELSE 0 END) END AS differs,
    greatest(
      sum(own * ln(2 * own / nullif(own + expected, 0)) + expected * ln(2 * expected / nullif(own + expected, 0)))
      / nullif(2 * max(size * total), 0)
      + (max(total) - sum(n)) / nullif(2 * max(total), 0) * ln(2), 0) AS divergence
  FROM compared
  GROUP BY class_id, superset_id
)

-- statement: achieved
, nearest AS (
  SELECT class_id, min(CASE WHEN differs = 1 THEN divergence ELSE 0 END) AS distance FROM paired GROUP BY class_id
)
SELECT max(coalesce(n.distance, CAST('infinity' AS DOUBLE))) AS achieved
FROM equivalence_class AS c
LEFT JOIN nearest AS n ON n.class_id = c.class_id

-- statement: violations
, nearest AS (
  SELECT class_id, max(CASE
      WHEN differs = 0 OR divergence <= $t - 1e-12
      THEN 1 ELSE 0 END) AS is_close
  FROM paired
  GROUP BY class_id
)
SELECT c.class_id, c.size, CAST(0 AS DOUBLE) AS excess
FROM equivalence_class AS c
LEFT JOIN nearest AS n ON n.class_id = c.class_id
WHERE coalesce(n.is_close, 0) = 0
