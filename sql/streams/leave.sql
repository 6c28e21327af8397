-- The rows of a slice that leave, one due row after the other: the oldest row with the rows of the k - 1 nearest other
-- respondents, and with one row of each further respondent that is within their range. If there are fewer respondents,
-- or if their labels are too general, the oldest row leaves alone. tables: row_code(position, horizon, respondent, and
-- the codes of the quasi-identifiers); horizon is NULL in rows that do not begin a class functions: distance(),
-- formed() and inside(), the expressions of the quasi-identifiers, whose columns in the steps are {candidate}, {span}
-- and {bounds}; parameters: $others, k - 1
WITH RECURSIVE leaving(position, oldest, formed) USING KEY (position) AS (
  SELECT -1::BIGINT AS position, -1::BIGINT AS oldest, false AS formed
  UNION
  (
    WITH waiting AS MATERIALIZED (
      SELECT r.*
      FROM row_code AS r
      WHERE r.position > (SELECT max(l.oldest) FROM leaving AS l)
        AND NOT EXISTS (SELECT 1 FROM recurring.leaving AS l WHERE l.position = r.position)
    ),
    oldest AS MATERIALIZED (
      SELECT w.* FROM waiting AS w WHERE w.horizon IS NOT NULL ORDER BY w.position ASC NULLS LAST LIMIT 1
    ),
    candidate AS MATERIALIZED (
      SELECT w.position, w.respondent, o.position AS oldest, w.respondent = o.respondent AS own, {candidate}
      FROM oldest AS o
      JOIN waiting AS w ON w.position <= o.horizon
    ),
    span AS (
      SELECT count(*) AS rows, {span} FROM candidate AS c
    ),
    apart AS (
      SELECT c.position, c.respondent, distance() AS distance
      FROM candidate AS c
      CROSS JOIN span AS s
      WHERE NOT c.own
    ),
    nearest AS MATERIALIZED (
      SELECT arg_min(a.position, (a.distance, a.position)) AS position, min(a.distance) AS distance
      FROM apart AS a
      GROUP BY a.respondent
      ORDER BY distance ASC NULLS LAST, position ASC NULLS LAST
      LIMIT $others
    ),
    bounds AS (
      SELECT count(*) AS rows, {bounds}
      FROM candidate AS c
      WHERE c.position = c.oldest OR c.position IN (SELECT n.position FROM nearest AS n)
    ),
    class AS (
      SELECT b.*, b.rows > $others AND formed() AS formed FROM bounds AS b
    ),
    member AS (
      SELECT c.position, c.respondent, c.oldest, b.formed
      FROM candidate AS c
      CROSS JOIN class AS b
      WHERE c.position = c.oldest OR (b.formed AND NOT c.own AND inside())
    )
    SELECT arg_min(m.position, (n.position IS NULL, m.position)) AS position, any_value(m.oldest) AS oldest, any_value(m.formed) AS formed
    FROM member AS m
    LEFT JOIN nearest AS n ON n.position = m.position
    GROUP BY m.respondent
  )
)
SELECT l.position, l.oldest, l.formed FROM leaving AS l WHERE l.position >= 0
