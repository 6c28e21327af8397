-- The predicates that name a range of an attribute: query_id, attribute, predicate, such as "age" BETWEEN 30 AND 39.
--
-- choice: query_id, attribute; known: rank and text of the attribute's $known values. The first of the $named values of
-- a range is chosen at random (see picked.sql).
WITH drawn AS (
  SELECT
    query_id,
    CAST(
      md5_number_lower(concat_ws('/', $draw, CAST(query_id AS VARCHAR), '0')) % ($known - $named + 1) AS BIGINT
    ) AS first
  FROM choice
  WHERE attribute = $attribute
)
SELECT
  drawn.query_id,
  CAST($attribute AS INTEGER) AS attribute,
  $column || ' BETWEEN ' || low.text || ' AND ' || high.text AS predicate
FROM drawn
JOIN known AS low ON low.rank = drawn.first
JOIN known AS high ON high.rank = drawn.first + $named - 1
