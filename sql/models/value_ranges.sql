-- model: value_ranges
-- title: In every equivalence class each listed sensitive value has a share within its own range.
-- paper: Frikken and Zhang, Yet another privacy metric for publishing micro-data (2008), (alpha_i, beta_i)-closeness
-- also called: template, template_privacy, template_based_privacy, confidence_bounding
-- parameter: ranges RELATION -- a row for each listed value, with its lowest and its highest share, NULL for no bound
-- required: at most 0
-- monotone: yes -- a value's share of a union lies between its shares of the parts
-- monotone under suppression: no -- a union of a satisfying class and another can violate
-- excess: size * max over the listed values of (p - high) and (low - p)
-- excess maximum: value by value, before taking the maximum: 1 - high and low
-- joint: no -- a range belongs to a value of one attribute
-- reads: equivalence_class, class_sensitive_value, value_range

-- `achieved` is the largest distance by which a class leaves a range, 0 if none does. Bounds are
-- DOUBLEs, and a share lies within them up to 1e-12: a bound of 0.1 is not the fraction 1/10.
-- A class lacks a listed value, with share 0, if it has fewer of the values with a low bound than are
-- listed; that needs no row for what is absent.
-- The excess: for every listed value max((p - high) / (1 - high), (low - p) / low, 0) is convex in p and
-- at most 1, and so is the greatest of them; a class that lacks a value with a low bound reaches 1.

-- statement: achieved
WITH classes AS (
  SELECT count(*) AS number FROM equivalence_class
), present AS (
  SELECT value, count(*) AS number FROM class_sensitive_value GROUP BY value
), distance AS (
  SELECT greatest(coalesce(CAST(s.n AS DOUBLE) / nullif(c.size, 0) - r.high, 0),
    coalesce(r.low - CAST(s.n AS DOUBLE) / nullif(c.size, 0), 0)) AS distance
  FROM class_sensitive_value AS s
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  JOIN value_range AS r ON r.value = s.value
  UNION ALL
  SELECT coalesce(r.low, 0) AS distance
  FROM value_range AS r
  CROSS JOIN classes AS a
  LEFT JOIN present AS p ON p.value = r.value
  WHERE coalesce(p.number, 0) < a.number
)
SELECT CASE WHEN max(a.number) > 0 THEN coalesce(max(d.distance), 0) END AS achieved
FROM classes AS a
LEFT JOIN distance AS d ON d.distance > 1e-12

-- statement: violations
WITH wanted AS (
  SELECT count(*) AS number FROM value_range WHERE low > 1e-12
), paired AS (
  SELECT s.class_id, CAST(s.n AS DOUBLE) / nullif(c.size, 0) AS share, r.low, r.high
  FROM class_sensitive_value AS s
  JOIN equivalence_class AS c ON c.class_id = s.class_id
  JOIN value_range AS r ON r.value = s.value
), judged AS (
  SELECT class_id, sum(CASE WHEN low > 1e-12 THEN 1 ELSE 0 END) AS number,
    max(CASE WHEN share > high + 1e-12 OR share < low - 1e-12 THEN 1 ELSE 0 END) AS violates,
    max(CASE WHEN share > high THEN (share - high) / nullif(1 - high, 0)
      WHEN share < low THEN (low - share) / nullif(low, 0) ELSE 0 END) AS excess
  FROM paired
  GROUP BY class_id
)
SELECT c.class_id, c.size,
  CASE WHEN coalesce(j.number, 0) < w.number THEN CAST(c.size AS DOUBLE)
    ELSE CAST(c.size AS DOUBLE) * least(1, greatest(coalesce(j.excess, 0), 0)) END AS excess
FROM equivalence_class AS c
CROSS JOIN wanted AS w
LEFT JOIN judged AS j ON j.class_id = c.class_id
WHERE coalesce(j.number, 0) < w.number OR coalesce(j.violates, 0) = 1
