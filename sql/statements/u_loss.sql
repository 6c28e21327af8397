-- The Jensen-Shannon divergence, in nats, between the sensitive values of a population in the release and in the source
-- (Li and Li, On the tradeoff between privacy and utility in data publishing, 2009, section 4.2). If the release shows
-- nothing about a population, the values of the whole release are used. A value that the source lacks in a population
-- adds half its share times ln 2, so only the sum of the shares of the source's values is needed.
WITH truth AS (
  SELECT population, value, n / sum(n) OVER (PARTITION BY population) AS p FROM population_source
), known AS (
  SELECT population, value, n / sum(n) OVER (PARTITION BY population) AS q FROM population_release WHERE n > 0
), of_all AS (
  SELECT value, n / sum(n) OVER () AS q FROM released_value
), estimated AS (
  SELECT population, value, q FROM known
  UNION ALL
  SELECT u.population, r.value, r.q
  FROM truth AS u JOIN of_all AS r ON u.value = r.value
  WHERE NOT u.population IN (SELECT population FROM known)
), paired AS (
  SELECT t.population, t.p, coalesce(e.q, 0.0) AS q
  FROM truth AS t
  LEFT JOIN estimated AS e ON t.population = e.population AND t.value = e.value
)
SELECT population, greatest(
  sum(p * ln(2 * p / (p + q)) + CASE WHEN q > 0 THEN q * ln(2 * q / (p + q)) ELSE 0.0 END) + (1 - sum(q)) * ln(2.0),
  0.0) / 2 AS divergence
FROM paired
GROUP BY population
