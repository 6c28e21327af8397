-- Pieces of the order of texts as leaves. The least text above another is this text with chr(0) added. The number of
-- texts in a piece is unknown, so only a single text has a weight; a text that is merely possible, whose known is NULL,
-- has the weight 0. A piece of one text is left out if the mask of its label has another length.
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
