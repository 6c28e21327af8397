-- The different combinations of labels of some rows, with numbers: {names}, code.
--
-- rows: the {labels}, which become {names}. The rows (a, 1), (a, 1) and (b, 1) have two combinations.
SELECT {names}, row_number() OVER () AS code
FROM (SELECT DISTINCT {labels} AS "{names}" FROM rows) AS occurring
