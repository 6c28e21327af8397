-- The beliefs before the first round, the share of each value in its bucket: row_id, code, weight.
SELECT row_id, code, CAST(n AS DOUBLE) / CAST(size AS DOUBLE) AS weight FROM pair
