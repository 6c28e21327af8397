-- The masks that labels of PREFIXES show. A mask represents the texts that begin with its prefix and are as long as it.
SELECT
  label,
  regexp_extract(shown, '^(.*?)(\**)$', 1, 's') AS prefix,
  length(regexp_extract(shown, '^(.*?)(\**)$', 2, 's')) AS stars,
  shown AS mask
FROM shown
