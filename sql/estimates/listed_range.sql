-- The listed values between the ends of ranges, in the order of the hierarchy, with the weight 1.
--
-- range: the rows of range.sql; listed: value and its rank {rank}. typed casts a text to the column's type.
SELECT range.label, listed.value, CAST(1 AS DOUBLE) AS weight
FROM range
JOIN listed AS low ON typed(range.low) = low.value
JOIN listed AS high ON typed(range.high) = high.value
JOIN listed ON {listed.rank} BETWEEN {low.rank} AND {high.rank} AND listed.value IS NOT NULL
