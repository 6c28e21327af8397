-- The Jensen-Shannon divergence, in nats, of the sensitive values that a release says a population has from those that it
-- has in the source (Li and Li, On the tradeoff between privacy and utility in data publishing, 2009, section 4.2). A
-- population of which the release says nothing is taken to have the values of all.
WITH truth AS (
  SELECT population, value, n / sum(n) OVER (PARTITION BY population) AS p FROM population_source
), said AS (
  SELECT population, value, n / sum(n) OVER (PARTITION BY population) AS q FROM population_release WHERE n > 0
), unsaid AS (
  SELECT DISTINCT population FROM truth WHERE NOT population IN (SELECT population FROM said)
), of_all AS (
  SELECT value, n / sum(n) OVER () AS q FROM released_value
), estimated AS (
  SELECT population, value, q FROM said
  UNION ALL
  SELECT u.population, r.value, r.q
  FROM unsaid AS u CROSS JOIN of_all AS r
), paired AS (
  SELECT coalesce(t.population, e.population) AS population, coalesce(t.p, 0.0) AS p, coalesce(e.q, 0.0) AS q
  FROM truth AS t
  FULL JOIN estimated AS e ON t.population = e.population AND t.value = e.value
)
SELECT population, greatest(
  sum(
    CASE WHEN p > 0 THEN p * ln(2 * p / (p + q)) ELSE 0.0 END + CASE WHEN q > 0 THEN q * ln(2 * q / (p + q)) ELSE 0.0 END
  ) / 2, 0.0) AS divergence
FROM paired
GROUP BY population
