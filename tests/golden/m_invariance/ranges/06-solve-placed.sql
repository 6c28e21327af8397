-- Look for: a region is a class in the end; whatever was dealt out before gave only the values of each class.

CREATE TEMPORARY TABLE "__sqlanon_placed_2" AS
SELECT "row_no", "signature", "code", "region" AS "place"
FROM "__sqlanon_region_3";
