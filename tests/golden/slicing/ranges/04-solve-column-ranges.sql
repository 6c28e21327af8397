-- Look for: a row for each combination of ranks that occurs, and the ranges that stand for it; a table a column.

CREATE TEMPORARY TABLE "__sqlanon_column_ranges_1" AS
SELECT "point"."r_0", "point"."r_1", "label"."label_0", "label"."label_1"
FROM (SELECT DISTINCT "region", "r_0", "r_1" FROM "__sqlanon_points_done_2") AS "point"
JOIN "__sqlanon_labels_1" AS "label" ON "point"."region" = "label"."region";

CREATE TEMPORARY TABLE "__sqlanon_column_ranges_2" AS
SELECT "point"."r_0", "label"."label_0"
FROM (SELECT DISTINCT "region", "r_0" FROM "__sqlanon_points_done_3") AS "point"
JOIN "__sqlanon_labels_2" AS "label" ON "point"."region" = "label"."region";
