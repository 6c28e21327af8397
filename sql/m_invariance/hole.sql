-- The holes of each signature, a row for each missing value: signature, code, hole. A signature has as many classes as
-- its most frequent value has rows that stay, and each of its values must occur once in each class.
WITH counted AS (
  SELECT signature, code, count(*) AS n FROM source_row WHERE signature IS NOT NULL GROUP BY signature, code
), classes AS (
  SELECT signature, max(n) AS n FROM counted GROUP BY signature
)
SELECT signature, code, unnest(range(missing)) AS hole
FROM (
  SELECT s.signature, s.code, l.n - coalesce(c.n, 0) AS missing
  FROM classes AS l
  JOIN signature_code AS s ON s.signature = l.signature
  LEFT JOIN counted AS c ON c.signature = s.signature AND c.code = s.code
) AS balance
