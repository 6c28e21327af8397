-- Look for: parts are counted once, with their bounds; the middle part goes to the side that makes the halves more
-- even; children from the parts alone and not from the points.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_parts_1" AS
SELECT
  "label", COUNT(*) AS "rows", CAST((MIN("key_0" & 31)) AS INT) AS "low_0",
  CAST((MAX("key_0" & 31)) AS INT) AS "high_0", CAST((MIN("key_0" & 32) >> 5) AS INT) AS "low_1",
  CAST((MAX("key_0" & 32) >> 5) AS INT) AS "high_1", CAST((MIN("key_0" & 960) >> 6) AS INT) AS "low_2",
  CAST((MAX("key_0" & 960) >> 6) AS INT) AS "high_2"
FROM "__sqlanon_points_1" AS "points"
GROUP BY "label";
