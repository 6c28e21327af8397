-- What tells the rows of one release in the ledger from others, whatever their order, and whatever stood before them. It does not
-- depend on the engine's version.
-- parameter: $1 the series, $2 the position of the release, $3 the digest of the release before it
SELECT sha256(concat_ws(':', $3, m.digest, c.digest, v.digest)) AS digest
FROM (
  SELECT concat_ws(':', count(*), bit_xor(md5_number(concat_ws(',', class_no, respondent)))) AS digest
  FROM anon.series_member
  WHERE series_id = $1 AND position = $2
) AS m
CROSS JOIN (
  SELECT concat_ws(':', count(*), bit_xor(md5_number(concat_ws(',', class_no, value_set, attribute)))) AS digest
  FROM anon.series_class
  WHERE series_id = $1 AND position = $2
) AS c
CROSS JOIN (
  SELECT concat_ws(':', count(*), bit_xor(md5_number(to_json([value_set::VARCHAR, attribute, value, n::VARCHAR])::VARCHAR))) AS digest
  FROM anon.series_value
  WHERE series_id = $1 AND position = $2
) AS v
