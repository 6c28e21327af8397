-- The classes of each possible world, with their values and rows: class_id, {sensitive}, n.
--
-- dealt: world, row_id and code (the values that the world gives the row); remaining: world; class: row_id and
-- class_no; known: code and the {sensitive} values. Each of the $classes classes has another class_id in each world.
WITH counted AS (
  SELECT dealt.world * $classes + class.class_no AS class_id, dealt.code, count(*) AS n
  FROM dealt
  JOIN remaining ON dealt.world = remaining.world
  JOIN class ON dealt.row_id = class.row_id
  GROUP BY dealt.world * $classes + class.class_no, dealt.code
)
SELECT counted.class_id, {known.sensitive}, counted.n
FROM counted
JOIN known ON counted.code = known.code
