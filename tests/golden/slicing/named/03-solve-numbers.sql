-- Look for: the buckets' numbers follow a draw for each region, and neither its order nor its size.

CREATE TEMPORARY TABLE "__sqlanon_numbers_1" AS
SELECT "region", ROW_NUMBER() OVER (ORDER BY "draw" ASC NULLS LAST) AS "bucket", "rows"
FROM ({drawn("__sqlanon_points_done_1")}) AS "drawn";

SELECT COUNT(*), COALESCE(MIN("rows"), 0), COALESCE(MAX("rows"), 0) FROM "__sqlanon_numbers_1" AS "numbers";
