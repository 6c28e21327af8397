-- Look for: each class once, with random bits.

CREATE TEMPORARY TABLE "__sqlanon_class_1" AS
SELECT *, udf(0) AS "draw"
FROM (SELECT DISTINCT "signature", "place" FROM "__sqlanon_placed_1" AS "placed") AS "each";
