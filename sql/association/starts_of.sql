-- The remaining rows of each value, with the random bits that starts.sql reads: chunk, value, n, drawn.
--
-- counted: chunk, value, n. The first value carries $turn, the random number of the row at which counting begins; the
-- other values carry 0.
SELECT *, CAST(CASE WHEN (row_number() OVER (ORDER BY value ASC NULLS LAST) - 1) = 0 THEN $turn ELSE 0 END AS BIGINT) AS drawn
FROM counted
WHERE n > 0
