-- Look for: how many different texts each column has, by a sample of 100,000 rows at most: few of them are sorted
-- faster as words.

SELECT APPROX_COUNT_DISTINCT("text_0"), APPROX_COUNT_DISTINCT("text_1") FROM ({some("zip")}) AS "some";
