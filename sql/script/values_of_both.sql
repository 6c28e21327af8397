-- The values of the source's column {sensitive}, each row with n = 1, and the written values, with n = -count: value,
-- n.
--
-- source: {sensitive}; candidate_value: value, count. A value of three rows, written with the counts 1 and 2, adds up
-- to 0.
SELECT {sensitive} AS value, CAST(1 AS BIGINT) AS n FROM source
UNION ALL
SELECT value, -count AS n FROM candidate_value
