-- The intervals that labels of INTERVALS show: [20,30), (-inf,20) and [90,inf).
SELECT
  label,
  nullif(regexp_extract(shown, '^[\[(](.*),(.*)\)$', 1), '-inf') AS low,
  nullif(regexp_extract(shown, '^[\[(](.*),(.*)\)$', 2), 'inf') AS high
FROM shown
WHERE regexp_matches(shown, '^(\[-?[0-9.]+|\(-inf),(-?[0-9.]+|inf)\)$')
