-- model: proximity
-- when: variant = window (default)
-- title: No range of the given width holds more than the given share of the sensitive numbers of an equivalence class.
-- paper: Li, Tao and Xiao, Preservation of proximity privacy in publishing numerical sensitive data (2008), (epsilon,m)-anonymity, with ranges in place of neighborhoods
-- parameter: within DECIMAL 0 1000000000000000 -- the width of a range, between its least and its greatest number; of dates, in days
-- parameter: max DECIMAL 0 1 -- the greatest share of the numbers of a class that may lie so near to each other
-- required: at most max
-- monotone: yes -- the share of a range in a union is at most the greatest of its shares in the parts
-- monotone under suppression: no -- more rows within a range raise its share
-- excess: size, for a class without numbers; else numbers * (max p - max) / (1 - max)
-- excess maximum: 1 - max
-- joint: no -- nearness is a difference of two numbers
-- reads: equivalence_class, class_sensitive_value, sensitive_number
-- NULL, NaN and infinity are not numbers: shares are computed over the other rows, and a class without numbers violates.
-- Whole numbers, decimals, dates and timestamps are compared exactly, by units. For DOUBLEs a difference of 4e-16 of
-- their size is ignored, so numbers at the border count as near.
--
-- A range that holds most begins with a number of the class. Numbers and ends of ranges are put in one order, in which
-- running sums count the rows up to an end and those before a number.
--
-- Why the excess never grows when classes merge: (rows in a range - max * numbers) is a sum over rows, so that the
-- greatest over all ranges, and its positive part, of a union is at most the sum of those of the parts. A class
-- without numbers adds none.

-- shared: each statement begins with these relations
WITH placed AS (
  SELECT s.class_id, s.value, s.n, v.whole * $within_denominator AS exact,
    v.whole * $within_denominator + v.unit * $within_numerator AS exact_end, v.number AS approximate,
    v.number + $within + 4e-16 * (least(abs(v.number), 1e300) + $within) AS approximate_end
  FROM class_sensitive_value AS s
  JOIN sensitive_number AS v ON v.value = s.value
  WHERE v.whole IS NOT NULL OR v.number BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308
), event AS (
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
  SELECT class_id, value, sum(n) AS n, sum(CASE WHEN step = 1 THEN before ELSE n - before END) AS within
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
SELECT equivalence_class.class_id, equivalence_class.size, CASE
    WHEN most IS NULL THEN CAST(equivalence_class.size AS DOUBLE)
    ELSE coalesce((CAST(most AS DOUBLE) * $max_denominator - CAST(numbers AS DOUBLE) * $max_numerator)
      / nullif($max_denominator - $max_numerator, 0), 0)
  END AS excess
FROM equivalence_class
LEFT JOIN class ON class.class_id = equivalence_class.class_id
WHERE most IS NULL
  OR CAST(most AS DECIMAL(38, 0)) * $max_denominator > CAST(numbers AS DECIMAL(38, 0)) * $max_numerator
