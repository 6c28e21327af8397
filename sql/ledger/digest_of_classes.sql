-- What told the rows of one release in the ledger from others, whatever their order, and whatever stood before them, when the values
-- of each class were written down with it: that of releases which a former version made.
-- parameter: $1 the series, $2 the position of the release, $3 the digest of the release before it
SELECT sha256(concat_ws(':', $3, m.digest, v.digest)) AS digest
FROM (
  SELECT concat_ws(':', count(*), bit_xor(md5_number(concat_ws(',', class_no, respondent)))) AS digest
  FROM anon.series_member
  WHERE series_id = $1 AND position = $2
) AS m
CROSS JOIN (
  SELECT concat_ws(':', count(*), bit_xor(md5_number(to_json([c.class_no::VARCHAR, c.attribute, v.value, v.n::VARCHAR])::VARCHAR))) AS digest
  FROM anon.series_class AS c
  JOIN anon.series_value AS v ON v.value_set = c.value_set AND v.series_id = c.series_id AND v.attribute = c.attribute
  WHERE c.series_id = $1 AND c.position = $2
) AS v
