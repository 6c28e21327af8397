-- A checksum of the rows of each release in the ledger, in any order: position, rows_hash. It is faster than the
-- digest, but another version of DuckDB may have another hash function. parameter: $1 the series, $2 the position of
-- the first release
SELECT position, concat_ws(':', sum(members), sum(member_hash), sum(classes), sum(class_hash), sum(n), sum(value_hash)) AS rows_hash
FROM (
  SELECT position, count(*) AS members, sum(hash(hash(class_no, respondent))) AS member_hash, 0 AS classes, 0 AS class_hash,
    0 AS n, 0 AS value_hash
  FROM anon.series_member
  WHERE series_id = $1 AND position >= $2
  GROUP BY position
  UNION ALL
  SELECT position, 0 AS members, 0 AS member_hash, count(*) AS classes, sum(hash(hash(class_no, attribute, value_set))) AS class_hash,
    0 AS n, 0 AS value_hash
  FROM anon.series_class
  WHERE series_id = $1 AND position >= $2
  GROUP BY position
  UNION ALL
  SELECT position, 0 AS members, 0 AS member_hash, 0 AS classes, 0 AS class_hash, count(*) AS n,
    sum(hash(hash(value_set, attribute, value, n))) AS value_hash
  FROM anon.series_value
  WHERE series_id = $1 AND position >= $2
  GROUP BY position
) AS of_table
GROUP BY position
