-- Numbers of blocks of $size rows from $low to $high; how many of $rows rows each leaves out, and how many of these may
-- be alike, one in $k: blocks, left_out, alike.
SELECT blocks, ($rows - blocks * $size) AS left_out, ($rows - blocks * $size) // $k AS alike
FROM (SELECT unnest(generate_series($low, $high, 1)) AS blocks) AS numbered
