-- The attributes of each query: query_id, attribute. $count of the $indexes are chosen at random without replacement.
--
-- query: query_id. The order is that of 64 bits that depend only on the $seed, query and attribute, on any machine and
-- version.
WITH numbered AS (
  SELECT
    query_id, attribute,
    row_number() OVER (
      PARTITION BY query_id
      ORDER BY md5_number_lower(
        concat_ws('/', $seed || ' attribute', CAST(query_id AS VARCHAR), CAST(attribute AS VARCHAR))
      ) ASC NULLS LAST
    ) AS number
  FROM (SELECT query_id, unnest([$indexes]) AS attribute FROM query) AS each
)
SELECT query_id, CAST(attribute AS INTEGER) AS attribute
FROM numbered
WHERE number <= $count
