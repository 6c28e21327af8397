-- Look for: cells are cut as they are, since each stands for six rows.

CREATE TEMPORARY TABLE "__sqlanon_points_1" AS SELECT CAST(0 AS INT) AS "label", "key_0", "n" FROM "__sqlanon_cells_4";

SELECT
  "rowid", "label", CAST((("key_0" & 31)) AS INT) AS "r_0", CAST((("key_0" & 32) >> 5) AS INT) AS "r_1",
  CAST((("key_0" & 960) >> 6) AS INT) AS "r_2", "n" AS "n"
FROM "__sqlanon_points_1";
