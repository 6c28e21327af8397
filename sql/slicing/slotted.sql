-- The rows in random slots of at least $size rows, or in one slot if there are fewer rows: slot, $columns. point: the
-- rows.
--
-- $draw is a random number of each row. Five rows in slots of two have the numbers 0 to 4, and the slots 0, 1, 0, 1, 0.
SELECT CAST(number % slots AS BIGINT) AS slot, $columns
FROM (
  SELECT *, row_number() OVER (ORDER BY draw ASC NULLS LAST) - 1 AS number, greatest(1, count(*) OVER () // $size) AS slots
  FROM (SELECT *, $draw AS draw FROM point) AS drawn
) AS numbered
