-- Look for: numbers of the regions, drawn, as with Mondrian's.

CREATE TEMPORARY TABLE "__sqlanon_numbers_1" AS
SELECT "region", ROW_NUMBER() OVER (ORDER BY "draw" ASC NULLS LAST) AS "bucket", "rows"
FROM ({drawn("__sqlanon_points_1")}) AS "drawn";
