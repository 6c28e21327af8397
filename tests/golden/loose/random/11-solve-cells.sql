-- Look for: blocks one after the other, and the rows of each in an order drawn anew, not that in which they were
-- dealt.

CREATE TEMPORARY TABLE "__sqlanon_cells_1" AS
SELECT "row", "block"
FROM "__sqlanon_placed_1" AS "placed"
ORDER BY "block" ASC NULLS LAST, udf(0) ASC NULLS LAST;
