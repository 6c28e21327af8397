-- The rows of each value that are left, as starts.sql counts them: chunk, value, n, drawn.
--
-- counted: chunk, value, n. Counting begins at a row that $turn says, a random number, which the first value carries.
SELECT *, CAST(CASE WHEN (row_number() OVER (ORDER BY value ASC NULLS LAST) - 1) = 0 THEN $turn ELSE 0 END AS BIGINT) AS drawn
FROM counted
WHERE n > 0
