-- The SHA-256 of the rows of a relation, each as a text, in any order, as any engine can compute it: the SHA-256 of
-- each row in hexadecimal, sorted and joined, in parts by their first three digits, so that no text contains the
-- digests of all rows.
SELECT sha256(coalesce(string_agg(digest, '' ORDER BY part ASC NULLS LAST), ''))
FROM (
  SELECT left(digest, 3) AS part, sha256(string_agg(digest, '' ORDER BY digest ASC NULLS LAST)) AS digest
  FROM (SELECT sha256(line) AS digest FROM snapshot) AS hashed
  GROUP BY part
) AS parts
