-- value_range(value, low, high): the ranges that shares of sensitive values may lie in, by the codes of the values.
-- A listed value that is in no row, or that does not have the column's type, gets a code that is in no row, so no class
-- has its required least share. Any order of these codes is right; without one the numbering differs between engines.
-- tables: listed(value, low, high), coded(value_0, code); parameter: $typed, the listed value in the column's type
SELECT coalesce(coded.code, -row_number() OVER (ORDER BY listed.value ASC NULLS LAST)) AS value,
  listed.low::DOUBLE AS low, listed.high::DOUBLE AS high
FROM listed
LEFT JOIN coded ON $typed IS NOT DISTINCT FROM coded.value_0 AND (listed.value IS NULL OR NOT $typed IS NULL)
