-- The rows of a relation in any order, each as a text, as one SHA-256 that any engine can compute: of each row's SHA-256
-- in hexadecimal, put in order and joined, in parts by their first three digits, so that no text has those of all rows.
SELECT sha256(coalesce(string_agg(digest, '' ORDER BY part ASC NULLS LAST), ''))
FROM (
  SELECT left(digest, 3) AS part, sha256(string_agg(digest, '' ORDER BY digest ASC NULLS LAST)) AS digest
  FROM (SELECT sha256(line) AS digest FROM snapshot) AS hashed
  GROUP BY part
) AS parts
