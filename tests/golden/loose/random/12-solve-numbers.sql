-- Look for: blocks in a drawn order, once for each fragment: a group's number in one fragment tells nothing about its
-- number in another.

CREATE TEMPORARY TABLE "__sqlanon_numbers_1" AS
SELECT "block"
FROM (
  SELECT *, "rowid" - (SELECT MIN("rowid") FROM "__sqlanon_cells_1" AS "cells") AS "number"
  FROM "__sqlanon_cells_1" AS "cells"
) AS "cell"
WHERE "number" % 4 = 0
ORDER BY udf(0) ASC NULLS LAST;

CREATE TEMPORARY TABLE "__sqlanon_numbers_2" AS
SELECT "block", "number" AS "number_0"
FROM (
  SELECT *, "rowid" - (SELECT MIN("rowid") FROM "__sqlanon_numbers_1" AS "numbered") AS "number"
  FROM "__sqlanon_numbers_1" AS "numbered"
) AS "numbered"
ORDER BY udf(0) ASC NULLS LAST;
