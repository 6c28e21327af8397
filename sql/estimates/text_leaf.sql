-- Pieces of the order of texts. The least text behind another is that text with chr(0)
-- added. How many texts lie in a piece is not known, so only a single one has a weight; one
-- that is possible and not counted on, whose known is NULL, weighs nothing.
-- A piece that is one text is left out where the mask of its label has another length.
SELECT
  label,
  CASE WHEN side = 0 THEN at ELSE at || chr(0) END AS at,
  CASE WHEN known AND single THEN 1.0 WHEN coalesce(known, TRUE) THEN 0.0 END AS weight,
  CAST(NULL AS DOUBLE) AS mean,
  CAST(NULL AS DOUBLE) AS square,
  CAST(NULL AS DOUBLE) AS least,
  CAST(NULL AS DOUBLE) AS greatest
FROM piece
WHERE (side = 0 OR to_side = 1 OR at || chr(0) < to_at)
  AND NOT (mask IS NOT NULL AND side = 0 AND to_side = 1 AND at = to_at AND length(at) <> length(mask))
