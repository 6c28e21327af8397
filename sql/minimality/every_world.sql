-- Each world: a way for each class, all combined. A class with one way has it in all of them.
SELECT w.world, r.row_id, a.codes[r.position] AS code
FROM world AS w
CROSS JOIN published_row AS r
JOIN way AS s ON s.class_no = r.class_no
JOIN arrangement AS a ON a.class_no = r.class_no AND a.number = (w.world // s.stride) % s.ways
