-- Look for: after the buckets, the points again: with the ranks of one column alone.

SELECT "rowid", "label", CAST((("key_0" & 31)) AS INT) AS "r_0", CAST((("key_0" & 960) >> 6) AS INT) AS "r_1"
FROM "__sqlanon_points_2";

CREATE TEMPORARY TABLE "__sqlanon_regions_done_2" AS
SELECT "region", "rows", "low_0", "high_0", "low_1", "high_1"
FROM "__sqlanon_numbered_2";

CREATE TEMPORARY TABLE "__sqlanon_points_done_2" AS
SELECT
  "placed"."region", CAST((("point"."key_0" & 31)) AS INT) AS "r_0",
  CAST((("point"."key_0" & 960) >> 6) AS INT) AS "r_1", CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_2" AS "point"
POSITIONAL JOIN "__sqlanon_placed_2" AS "placed";

SELECT "rowid", "label", CAST((("key_0" & 32) >> 5) AS INT) AS "r_0" FROM "__sqlanon_points_3";

CREATE TEMPORARY TABLE "__sqlanon_regions_done_3" AS
SELECT "region", "rows", "low_0", "high_0"
FROM "__sqlanon_numbered_3";

CREATE TEMPORARY TABLE "__sqlanon_points_done_3" AS
SELECT "placed"."region", CAST((("point"."key_0" & 32) >> 5) AS INT) AS "r_0", CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_3" AS "point"
POSITIONAL JOIN "__sqlanon_placed_3" AS "placed";
