-- The SHA-256 of the published rows of each batch, in any order: {batch}, sha256.
--
-- published: {batch} and the columns of a row, all of which are in its line. Lines are sorted in byte order, which no
-- collation changes. In a sum or an exclusive or of digests equal rows could cancel out.
WITH line AS (
  SELECT {batch}, CAST(to_json(published) AS VARCHAR) AS line
  FROM published
)
SELECT {batch}, sha256(string_agg(line, chr(10) ORDER BY encode(line) ASC NULLS LAST))
FROM line
GROUP BY {batch}
