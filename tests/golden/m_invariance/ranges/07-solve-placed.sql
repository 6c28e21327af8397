-- Look for:

CREATE TEMPORARY TABLE "__sqlanon_placed_2" AS
SELECT
  "row_no",
  "signature",
  "code",
  "region" AS "place"
FROM "__sqlanon_region_1";
