-- title: The Jensen-Shannon divergence, in nats, of the sensitive values of a row's class from those of the whole release: the worst row, the mean, quantiles, and the share of rows above a threshold.
-- paper: Li and Li, On the tradeoff between privacy and utility in data publishing (2009), section 4.1: P_loss
-- parameter: above DECIMAL 0 1 DEFAULT 0.3 -- the divergence above which rows are counted; no divergence exceeds ln 2
-- falls: no -- the greatest and the mean divergence fall, because the divergence is convex, but quantiles may rise
-- reads: class_sensitive_value, sensitive_value

-- JS(q, p) = 1/2 sum p ln(2p / (p + q)) + 1/2 sum q ln(2q / (p + q)); a value that the class lacks adds q ln 2 / 2. A
-- quantile is the least divergence that at least the given share of the rows do not exceed.

-- statement: figures
WITH baseline AS (
  SELECT value, CAST(n AS DOUBLE) AS n, sum(CAST(n AS DOUBLE)) OVER () AS total FROM sensitive_value
), class_value AS (
  SELECT class_id, value, CAST(n AS DOUBLE) AS n, sum(CAST(n AS DOUBLE)) OVER (PARTITION BY class_id) AS size
  FROM class_sensitive_value
), paired AS (
  SELECT s.class_id, s.size, b.n, b.total, s.n * b.total AS posterior, b.n * s.size AS prior
  FROM class_value AS s
  JOIN baseline AS b ON b.value = s.value
), divergence AS (
  SELECT class_id, max(size) AS size, max(total) AS total,
    greatest(
      sum(posterior * ln(2 * posterior / nullif(posterior + prior, 0)) + prior * ln(2 * prior / nullif(posterior + prior, 0)))
        / nullif(2 * max(size * total), 0)
      + (max(total) - sum(n)) / nullif(2 * max(total), 0) * ln(2),
      0
    ) AS divergence
  FROM paired
  GROUP BY class_id
), ranked AS (
  SELECT size, total, divergence, sum(size) OVER (ORDER BY divergence ASC NULLS LAST) / nullif(total, 0) AS share
  FROM divergence
)
SELECT
  max(divergence) AS p_loss,
  sum(size * divergence) / nullif(max(total), 0) AS p_loss_mean,
  min(CASE WHEN share >= 0.5 - 1e-12 THEN divergence END) AS p_loss_50,
  min(CASE WHEN share >= 0.9 - 1e-12 THEN divergence END) AS p_loss_90,
  min(CASE WHEN share >= 0.95 - 1e-12 THEN divergence END) AS p_loss_95,
  min(CASE WHEN share >= 0.99 - 1e-12 THEN divergence END) AS p_loss_99,
  sum(CASE WHEN divergence > $above THEN size ELSE 0 END) / nullif(max(total), 0) AS p_loss_above
FROM ranked
