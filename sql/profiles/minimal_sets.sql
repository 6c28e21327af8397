-- The unique sets without a proper subset in which the row is unique, too: r, s.
--
-- {sets}: r, a row, and s, a set of columns as a bit mask; $bits are the columns. A row that is unique in a set is
-- unique in each larger set, so sets are compared with those of one column fewer: of 1, 3 and 6, the sets 1 and 6
-- remain.
SELECT whole.r, whole.s
FROM "{sets}" AS whole
WHERE NOT EXISTS(
  SELECT 1
  FROM (
    SELECT r, s | bit AS s
    FROM "{sets}"
    CROSS JOIN (SELECT unnest([CAST($bits AS BIGINT)]) AS bit) AS bits
    WHERE (s & bit) = 0
  ) AS wider
  WHERE wider.r = whole.r AND wider.s = whole.s
)
