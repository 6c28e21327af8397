-- Look for: the rows and counterfeits of these classes with a draw each, which breaks ties.

CREATE TEMPORARY TABLE "__sqlanon_near_row_1" AS
SELECT *, udf(0) AS "draw"
FROM (
  SELECT "p"."row_no", "p"."signature", "p"."code", "s"."region"
  FROM "__sqlanon_placed_1" AS "p"
  JOIN "__sqlanon_value_set_1" AS "s" ON "s"."signature" = "p"."signature" AND "s"."place" = "p"."place"
) AS "each";

SELECT COALESCE(MAX("n"), 0) AS "classes"
FROM (SELECT COUNT(*) AS "n" FROM "__sqlanon_near_row_1" AS "near_row" GROUP BY "region", "code") AS "each";
