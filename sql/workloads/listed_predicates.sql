-- The predicates that list values of an attribute: query_id, attribute, predicate, such as "city" IN ('Rome', 'Turin').
--
-- choice: query_id, attribute; known: rank and text of the attribute's values, $named of which are chosen at random
-- (see picked.sql).
WITH each AS (
  SELECT
    choice.query_id, known.rank, known.text,
    row_number() OVER (
      PARTITION BY choice.query_id
      ORDER BY md5_number_lower(concat_ws('/', $draw, CAST(choice.query_id AS VARCHAR), CAST(known.rank AS VARCHAR)))
        ASC NULLS LAST
    ) AS number
  FROM choice
  CROSS JOIN known
  WHERE choice.attribute = $attribute
)
SELECT
  query_id,
  CAST($attribute AS INTEGER) AS attribute,
  $column || ' IN (' || string_agg(text, ', ' ORDER BY rank ASC NULLS LAST) || ')' AS predicate
FROM each
WHERE number <= $named
GROUP BY query_id
