-- Look for: a block of four as a grid of two by two: a row's line is its group in the first fragment, its column that
-- in the second, so that two rows share at most one of them.

CREATE TEMPORARY TABLE "__sqlanon_groups_1" AS
SELECT
  "cell"."row", "numbered"."number_0" * 2 + (("cell"."number" % 4) // 2) + 1 AS "group_0",
  "numbered"."number" * 2 + (((("cell"."number" % 4) % 2) + 0 * (("cell"."number" % 4) // 2)) % 2) + 1 AS "group_1"
FROM (
  SELECT *, "rowid" - (SELECT MIN("rowid") FROM "__sqlanon_cells_1" AS "numbered") AS "number"
  FROM "__sqlanon_cells_1" AS "numbered"
) AS "cell"
JOIN (
  SELECT *, "rowid" - (SELECT MIN("rowid") FROM "__sqlanon_numbers_2" AS "numbered") AS "number"
  FROM "__sqlanon_numbers_2" AS "numbered"
) AS "numbered" ON "cell"."block" = "numbered"."block";
