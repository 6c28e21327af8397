-- The digest of the rows of one release in the ledger, in any order, and of all releases before it: digest; one row.
--
-- It does not depend on the engine's version. Respondents are keyed digests, as good as random numbers, so the
-- exclusive or of their numbers distinguishes them without another digest; the second one also covers the class of each
-- respondent. parameter: $1 the series, $2 the position of the release, $3 the digest of the release before it
SELECT sha256(concat_ws(':', $3, m.digest, c.digest, v.digest)) AS digest
FROM (
  SELECT concat_ws(
    ':', count(*), sum(class_no), bit_xor(number),
    bit_xor((number & 18446744073709551615::UHUGEINT) * (class_no & 9223372036854775807)::UHUGEINT)
  ) AS digest
  FROM (
    SELECT class_no, respondent::UHUGEINT AS number FROM anon.series_member WHERE series_id = $1 AND position = $2
  ) AS each
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
