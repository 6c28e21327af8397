-- model: t_closeness
-- when: distance = jensen_shannon
-- title: In every equivalence class the sensitive values are distributed as in the whole release, up to a Jensen-Shannon divergence of t.
-- paper: Li and Li, On the tradeoff between privacy and utility in data publishing (2009); t-closeness: Li, Li and Venkatasubramanian (2007)
-- parameter: t DECIMAL 0 1 -- the greatest divergence of a class, in natural logarithms: at most ln 2
-- required: at most t
-- monotone: yes -- the divergence is convex: that of a union is at most the mean of its parts' divergences
-- monotone under suppression: no -- a union of a class within t and one beyond it can be beyond it
-- excess: size * (divergence - t)
-- excess maximum: (divergence of a class that holds the rarest value only) - t
-- within: jensen_shannon_nt_closeness with n = 1
-- reads: equivalence_class, class_sensitive_value, sensitive_value

-- JS(q, p) = 1/2 sum p ln(2p / (p + q)) + 1/2 sum q ln(2q / (p + q)); a value that the class lacks adds
-- q ln 2 / 2, so that the values present, and the share of the release that they make up, are enough.
-- Sums of logarithms round: within 1e-12 of t a class violates. Nothing is lost by it, for a divergence is
-- 0 or transcendental, and so never equal to another t; a class distributed as the release, which is told by its
-- counts, satisfies every t.
-- The excess: max(0, JS - t) is convex in p, so its greatest value is taken at a class of one value.

-- statement: achieved
WITH baseline AS (
  SELECT value, CAST(n AS DOUBLE) AS n, CAST(sum(n) OVER () AS DOUBLE) AS total FROM sensitive_value
), paired AS (
  SELECT s.class_id, b.n, b.total, CAST(c.size AS DOUBLE) AS size, CAST(s.n AS DOUBLE) * b.total AS own,
    b.n * CAST(c.size AS DOUBLE) AS expected
  FROM class_sensitive_value AS s
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  JOIN baseline AS b ON b.value = s.value
), divergence AS (
  SELECT class_id,
    sum(own * ln(2 * own / nullif(own + expected, 0)) + expected * ln(2 * expected / nullif(own + expected, 0)))
      / nullif(2 * max(size * total), 0)
    + (max(total) - sum(n)) / nullif(2 * max(total), 0) * ln(2) AS divergence
  FROM paired
  GROUP BY class_id
)
SELECT max(greatest(divergence, 0)) AS achieved FROM divergence

-- statement: violations
WITH baseline AS (
  SELECT value, CAST(n AS DOUBLE) AS n, CAST(sum(n) OVER () AS DOUBLE) AS total FROM sensitive_value
), vertex AS (
  SELECT (total * ln(2 * total / nullif(total + n, 0)) + n * ln(2 * n / nullif(total + n, 0)) + (total - n) * ln(2))
    / nullif(2 * total, 0) AS divergence
  FROM baseline
), farthest AS (
  SELECT max(divergence) - $t AS most FROM vertex
), paired AS (
  SELECT s.class_id, c.size, b.n, b.total, CAST(c.size AS DOUBLE) AS scale, CAST(s.n AS DOUBLE) * b.total AS own,
    b.n * CAST(c.size AS DOUBLE) AS expected
  FROM class_sensitive_value AS s
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  JOIN baseline AS b ON b.value = s.value
), divergence AS (
  SELECT class_id, max(size) AS size, max(scale) AS scale,
    CASE WHEN sum(n) < max(total) THEN 1 ELSE max(CASE WHEN own <> expected THEN 1 ELSE 0 END) END AS differs,
    sum(own * ln(2 * own / nullif(own + expected, 0)) + expected * ln(2 * expected / nullif(own + expected, 0)))
      / nullif(2 * max(scale * total), 0)
    + (max(total) - sum(n)) / nullif(2 * max(total), 0) * ln(2) AS divergence
  FROM paired
  GROUP BY class_id
)
SELECT d.class_id, d.size,
  CASE WHEN f.most > 1e-9 THEN least(d.scale, d.scale * greatest(d.divergence - $t, 0) / nullif(f.most, 0))
    ELSE 0 END AS excess
FROM divergence AS d
CROSS JOIN farthest AS f
WHERE d.differs = 1 AND d.divergence > $t - 1e-12
