-- The fit of each row and each value of its bucket, by naive Bayes: row_id, bucket, code, n, kernel. It is computed
-- from the believed frequency of each value with each part of a row, plus $smoothing.
--
-- The kernel is the likelihood to the power of m / (m - 1), in a bucket of m rows. Rescaled to the rows and values of
-- the bucket, it equals the mean over all assignments of the values, each as likely as the product over its rows:
-- exactly for two rows, and otherwise approximately if the likelihoods differ little. (If one entry of a matrix of ones
-- of m rows is e^h, the mean over assignments is 1/m + h (m-1)/m^2 in the first order of h, and rescaling gives 1/m + h
-- (m-1)^2/m^3.)
WITH frequency AS (
  SELECT p.part, p.x, w.code, sum(w.weight) AS n
  FROM weight AS w
  JOIN row_part AS p ON p.row_id = w.row_id
  GROUP BY p.part, p.x, w.code
), value_frequency AS (
  SELECT code, sum(weight) AS n FROM weight GROUP BY code
), kind AS (
  SELECT part, count(DISTINCT x) AS number FROM row_part GROUP BY part
), share AS (
  SELECT f.part, f.x, f.code, ln((f.n + $smoothing) / (v.n + $smoothing * k.number)) AS logarithm
  FROM frequency AS f
  JOIN value_frequency AS v ON v.code = f.code
  JOIN kind AS k ON k.part = f.part
), likelihood AS (
  SELECT w.row_id, w.code, sum(s.logarithm) AS logarithm
  FROM weight AS w
  JOIN row_part AS p ON p.row_id = w.row_id
  JOIN share AS s ON s.part = p.part AND s.x = p.x AND s.code = w.code
  GROUP BY w.row_id, w.code
)
SELECT p.row_id, p.bucket, p.code, p.n, greatest(1e-100, exp(
    CASE WHEN p.size > 1 THEN CAST(p.size AS DOUBLE) / (CAST(p.size AS DOUBLE) - 1) ELSE 1 END
    * (l.logarithm - max(l.logarithm) OVER (PARTITION BY p.row_id))
  )) AS kernel
FROM pair AS p
JOIN likelihood AS l ON l.row_id = p.row_id AND l.code = p.code
