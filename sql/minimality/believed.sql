-- For each row, over the remaining worlds: row_id, hit, confidence (the share of worlds in which the row has its most
-- frequent value), and the 95 % interval of this share (Wilson 1927). hit is 1 if the source has this value; if several
-- values are equally frequent and one of them is the source's, hit is the share of one value.
WITH counted AS (
  SELECT d.row_id, v.code, count(*) AS n
  FROM dealt AS d
  JOIN remaining AS w ON w.world = d.world
  JOIN code_value AS v ON v.tuple = d.code
  GROUP BY d.row_id, v.code
), most AS (
  SELECT row_id, max(n) AS n FROM counted GROUP BY row_id
), named AS (
  SELECT c.row_id, any_value(c.n) AS n, count(*) AS ties, bool_or(c.code = t.code) AS is_true
  FROM counted AS c
  JOIN most AS m ON m.row_id = c.row_id AND m.n = c.n
  JOIN published_row AS r ON r.row_id = c.row_id
  JOIN code_value AS t ON t.tuple = r.code
  GROUP BY c.row_id
), shared AS (
  SELECT row_id, n / CAST(total AS DOUBLE) AS p, CAST(total AS DOUBLE) AS total,
    CASE WHEN is_true THEN 1.0 / ties ELSE 0.0 END AS hit
  FROM named
  CROSS JOIN (SELECT count(*) AS total FROM remaining) AS worlds
)
SELECT row_id, hit, p AS confidence,
  CASE WHEN $exact THEN p ELSE greatest(0.0, (p + $z * $z / (2 * total) - $z * sqrt(p * (1 - p) / total + $z * $z / (4 * total * total))) / (1 + $z * $z / total)) END AS low,
  CASE WHEN $exact THEN p ELSE least(1.0, (p + $z * $z / (2 * total) + $z * sqrt(p * (1 - p) / total + $z * $z / (4 * total * total))) / (1 + $z * $z / total)) END AS high
FROM shared
