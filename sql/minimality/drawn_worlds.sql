-- A random sample of worlds, in each of which the values of a class are in another order: world, row_id, code. The
-- order is that of a hash with $seed.
SELECT o.world, r.row_id, o.code
FROM (
  SELECT w.world, r.class_no, r.code,
    row_number() OVER (
      PARTITION BY w.world, r.class_no
      ORDER BY hash(w.world, r.row_id, $seed) ASC NULLS LAST, r.row_id ASC NULLS LAST
    ) AS position
  FROM world AS w
  CROSS JOIN published_row AS r
) AS o
JOIN published_row AS r ON r.class_no = o.class_no AND r.position = o.position
