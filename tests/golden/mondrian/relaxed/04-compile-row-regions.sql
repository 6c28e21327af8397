-- Look for: rows by their rowid in place of combinations of values.

CREATE TEMPORARY TABLE "__sqlanon_row_regions_1" AS SELECT "row", "region" FROM "__sqlanon_points_done_1" AS "points";
