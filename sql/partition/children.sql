-- The halves of each region that was cut: region, side (0 the lower half), labels, rows, $spans.
--
-- part: label (3 region + 0 below the cut value, 1 at it, 2 above), rows, spans, and first_upper, the first part that
-- belongs to the upper half. With 2 there, the labels 21 and 22 are the lower half of region 7, and 23 the upper one.
SELECT CAST(label // 3 AS BIGINT) AS region, CAST(CASE WHEN label % 3 < first_upper THEN 0 ELSE 1 END AS BIGINT) AS side,
  list(label) AS labels, CAST(sum(rows) AS BIGINT) AS rows, $spans
FROM part
GROUP BY CAST(label // 3 AS BIGINT), CAST(CASE WHEN label % 3 < first_upper THEN 0 ELSE 1 END AS BIGINT)
