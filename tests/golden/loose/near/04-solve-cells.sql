-- Look for: rows of a block in order of their positions, two and two; in the second table those of a pair in a drawn
-- order.

CREATE TEMPORARY TABLE "__sqlanon_cells_1" AS
SELECT "row", "block"
FROM "__sqlanon_placed_1" AS "placed"
ORDER BY "block" ASC NULLS LAST, "position" ASC NULLS LAST, udf(0) ASC NULLS LAST;

CREATE TEMPORARY TABLE "__sqlanon_cells_2" AS
SELECT "row", "block"
FROM (
  SELECT *, "rowid" - (SELECT MIN("rowid") FROM "__sqlanon_cells_1" AS "cells") AS "number"
  FROM "__sqlanon_cells_1" AS "cells"
) AS "cell"
ORDER BY "number" // 2 ASC NULLS LAST, udf(0) ASC NULLS LAST;
