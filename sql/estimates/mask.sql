-- The texts that labels of PREFIXES show: those that begin like them and are as long.
SELECT
  label,
  regexp_extract(shown, '^(.*?)(\**)$', 1, 's') AS prefix,
  length(regexp_extract(shown, '^(.*?)(\**)$', 2, 's')) AS stars,
  shown AS mask
FROM shown
