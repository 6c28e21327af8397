-- All worlds, one for each combination of ways of the classes: world, row_id, code. A class with one way has it in all
-- worlds. The ways of a world are computed in a subquery of their own, so that arrangements are looked up by their
-- number.
SELECT d.world, r.row_id, d.code
FROM (
  SELECT n.world, n.class_no, unnest(a.codes) AS code, generate_subscripts(a.codes, 1) AS position
  FROM (
    SELECT w.world, s.class_no, (w.world // s.stride) % s.ways AS number
    FROM world AS w
    CROSS JOIN way AS s
  ) AS n
  JOIN arrangement AS a ON a.class_no = n.class_no AND a.number = n.number
) AS d
JOIN published_row AS r ON r.class_no = d.class_no AND r.position = d.position
