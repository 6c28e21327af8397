-- The rows of the source that are new, with their positions: position, arrived, {values}.
--
-- present: arrived, digest, {values} of the rows of the source from the watermark on; unread: arrived, digest, late, and
-- rows, the number of equal rows that are new. Positions follow $position in the order of arrival.
WITH numbered AS (
  SELECT
    u.rows, s.arrived, s.digest, {s.values},
    row_number() OVER (PARTITION BY s.arrived, s.digest) AS copy
  FROM present AS s
  JOIN unread AS u ON NOT u.late AND s.arrived = u.arrived AND s.digest = u.digest
)
SELECT
  CAST(
    $position + row_number() OVER (ORDER BY arrived ASC NULLS LAST, digest ASC NULLS LAST, copy ASC NULLS LAST) AS BIGINT
  ) AS position,
  arrived, {values}
FROM numbered
WHERE copy <= rows
