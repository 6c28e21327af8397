-- Look for:

CREATE TEMPORARY TABLE "__sqlanon_places_1" AS
SELECT
  "row",
  "region"
FROM "__sqlanon_points_done_1";
