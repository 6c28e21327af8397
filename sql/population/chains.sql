-- The nodes above each code, itself and the top, 0, included: code, node, share, which is 1. NULL is a code.
--
-- coded: code and the large node of each level, {levels}, NULL for none.
SELECT code, node, CAST(1.0 AS DOUBLE) AS share
FROM (
  SELECT code, unnest(list_value({levels}, 0)) AS node
  FROM (SELECT DISTINCT code, {levels} FROM coded) AS chain
) AS pair
WHERE NOT node IS NULL
UNION
SELECT CAST(NULL AS INTEGER) AS code, 0 AS node, CAST(1.0 AS DOUBLE) AS share
