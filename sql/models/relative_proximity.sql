-- model: proximity
-- when: variant = relative
-- title: For no sensitive number x of an equivalence class does more than the given share of the class's numbers lie within the given fraction of abs(x) around x.
-- paper: Li, Tao and Xiao, Preservation of proximity privacy in publishing numerical sensitive data (2008), relative (epsilon,m)-anonymity
-- parameter: within DECIMAL 0 1000000000000000 -- the distance up to which numbers are near a number, as a fraction of that number; of dates, from 1970-01-01
-- parameter: max DECIMAL 0 1 -- the greatest share of the numbers of a class that may lie so near to each other
-- required: at most max
-- monotone: no -- {100, 1000} and {60, 140} have shares of 1/2 within 0.5, and their union 3/4, around 100
-- monotone under suppression: no -- more rows near a number raise the share
-- excess: 0: no bound is known that merging never raises
-- excess maximum: 1
-- joint: no -- nearness is a difference of two numbers
-- reads: equivalence_class, class_sensitive_value, sensitive_number
-- NULL, NaN and infinity are not numbers: shares are computed over the other rows, and a class without numbers violates.
-- Whole numbers, decimals, dates and timestamps are compared exactly, by units. For DOUBLEs a difference of 4e-16 of
-- their size is ignored, so numbers at the border count as near.

-- shared: each statement begins with these relations
WITH placed AS (
  SELECT s.class_id, s.value, s.n, v.whole * $within_denominator AS exact,
    v.whole * $within_denominator - abs(v.whole) * $within_numerator AS exact_start,
    v.whole * $within_denominator + abs(v.whole) * $within_numerator AS exact_end, v.number AS approximate,
    v.number - (1 + 4e-16) * $within * least(abs(v.number), 1e292) - 4e-16 * least(abs(v.number), 1e300) AS approximate_start,
    v.number + (1 + 4e-16) * $within * least(abs(v.number), 1e292) + 4e-16 * least(abs(v.number), 1e300) AS approximate_end
  FROM class_sensitive_value AS s
  JOIN sensitive_number AS v ON v.value = s.value
  WHERE v.whole IS NOT NULL OR v.number BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308
), event AS (
  SELECT class_id, value, exact_start AS exact, approximate_start AS approximate, -1 AS step, 0 AS n FROM placed
  UNION ALL
  SELECT class_id, value, exact, approximate, 0 AS step, n FROM placed
  UNION ALL
  SELECT class_id, value, exact_end AS exact, approximate_end AS approximate, 1 AS step, 0 AS n FROM placed
), running AS (
  SELECT class_id, value, step, n, sum(n) OVER (
      PARTITION BY class_id ORDER BY exact ASC NULLS LAST, approximate ASC NULLS LAST, step ASC NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS before
  FROM event
), counted AS (
  SELECT class_id, value, sum(n) AS n, sum(CASE WHEN step = 1 THEN before WHEN step = -1 THEN -before ELSE 0 END) AS within
  FROM running
  GROUP BY class_id, value
), class AS (
  SELECT class_id, max(within) AS most, sum(n) AS numbers
  FROM counted
  GROUP BY class_id
)

-- statement: achieved
SELECT max(coalesce(CAST(most AS DOUBLE) / nullif(CAST(numbers AS DOUBLE), 0), 1)) AS achieved
FROM equivalence_class
LEFT JOIN class ON class.class_id = equivalence_class.class_id

-- statement: violations
SELECT equivalence_class.class_id, equivalence_class.size, CAST(0 AS DOUBLE) AS excess
FROM equivalence_class
LEFT JOIN class ON class.class_id = equivalence_class.class_id
WHERE most IS NULL
  OR CAST(most AS DECIMAL(38, 0)) * $max_denominator > CAST(numbers AS DECIMAL(38, 0)) * $max_numerator
