-- The masks of labels in words of 64 bits: possible and certain, with a bit for each query that rows with the label may
-- satisfy, or satisfy for certain.
--
-- label: column_index, number; share: column_index, number, query and certain for each query that may hold for a label;
-- word: column_index, word and others, the bits of the queries without a condition on the column. Query 65 is bit 1 of
-- word 1.
WITH satisfied AS (
  SELECT
    column_index, number,
    query // 64 AS word,
    bit_or(CAST(1 AS UBIGINT) << CAST(query % 64 AS INTEGER)) AS possible,
    bit_or(CASE WHEN certain THEN CAST(1 AS UBIGINT) << CAST(query % 64 AS INTEGER) END) AS certain
  FROM share
  GROUP BY column_index, number, query // 64
)
SELECT
  label.column_index, label.number, word.word,
  coalesce(satisfied.possible, CAST(0 AS UBIGINT)) | word.others AS possible,
  coalesce(satisfied.certain, CAST(0 AS UBIGINT)) | word.others AS certain
FROM label
JOIN word ON label.column_index = word.column_index
LEFT JOIN satisfied ON label.column_index = satisfied.column_index
  AND label.number = satisfied.number AND word.word = satisfied.word
