-- The greatest change of a belief in a round: change; one row.
SELECT max(abs(w.weight - b.weight)) AS change
FROM weight AS w
JOIN before AS b ON b.row_id = w.row_id AND b.code = w.code
