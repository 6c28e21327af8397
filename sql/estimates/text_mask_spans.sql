-- The spans of texts below masks: "80**" is from before "80" to before "81", the least text above all texts that begin
-- so.
--
-- mask: the rows of mask.sql. A mask without stars is a value. Below a mask of digits and one to four stars the stars
-- are assumed to be digits (known). The text above "80" is "81", and above the last character the next code point:
-- those from D800 to DFFF are no characters, and above 10FFFF there is none.
WITH ended AS (
  SELECT *, unicode(right(prefix, 1)) AS last FROM mask
), read AS (
  SELECT
    *,
    CASE
      WHEN NOT (prefix = '' OR last = 1114111)
      THEN left(prefix, CAST(length(prefix) - 1 AS INTEGER))
        || chr(CAST(CASE WHEN last + 1 = 55296 THEN 57344 ELSE last + 1 END AS INTEGER))
    END AS behind
  FROM ended
)
SELECT
  label,
  prefix AS low, 0 AS low_side,
  prefix AS high, 1 AS high_side,
  true AS known, false AS open_low, false AS open_high, CAST(NULL AS VARCHAR) AS mask
FROM read
WHERE stars = 0
UNION ALL
SELECT
  label,
  prefix AS low, 0 AS low_side,
  coalesce(behind, last_point()) AS high, 0 AS high_side,
  regexp_matches(mask, '^[0-9]+[*]{1,4}$') AS known, false AS open_low, false AS open_high, mask
FROM read
WHERE NOT stars = 0
