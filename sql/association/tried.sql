-- The numbers of blocks of $size rows from $low to $high, each with the number of the $rows rows that it leaves out,
-- and the number of these that may have an equal value, one in $k: blocks, left_out, alike.
SELECT blocks, ($rows - blocks * $size) AS left_out, ($rows - blocks * $size) // $k AS alike
FROM (SELECT unnest(generate_series($low, $high, 1)) AS blocks) AS numbered
