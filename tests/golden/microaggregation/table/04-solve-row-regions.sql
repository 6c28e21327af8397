-- Look for: rowids again in place of the numbers without gaps.

CREATE TEMPORARY TABLE "__sqlanon_row_regions_1" AS
SELECT "row"."row", "numbered"."region"
FROM "__sqlanon_rows_1" AS "row"
JOIN "__sqlanon_numbers_1" AS "numbered" ON "row"."number" = "numbered"."number";
