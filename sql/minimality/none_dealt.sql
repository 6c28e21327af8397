-- The start of the enumeration of each class, before any row has a value: class_no, size, codes (empty), remaining (the
-- rows left for each value).
SELECT class_no, size, [CAST(0 AS BIGINT)][2:1] AS codes, any_value(numbers) AS remaining
FROM class_value
GROUP BY class_no, size
