-- Before the first row of a class has a value: the values dealt, and how many rows are left for each value.
SELECT class_no, size, [CAST(0 AS BIGINT)][2:1] AS codes, any_value(numbers) AS remaining
FROM class_value
GROUP BY class_no, size
