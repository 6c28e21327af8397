-- Look for: for each attribute and level the number of other values below each node, which is what a suppressed row
-- would have cost if it had been generalized; UNION ALL of one SELECT per level, level 0 left out.

CREATE TEMPORARY TABLE "__sqlanon_leaves_1" AS
SELECT DISTINCT
  CAST(0 AS BIGINT) AS "attribute", CAST(1 AS BIGINT) AS "level", CAST(0 + ("rank_1" << 2) + ("rank_2" << 3) + (
    "rank_3" << 4
  ) AS BIGINT) AS "part_0",
  CAST("leaves_1" - 1 AS BIGINT) AS "others"
FROM "__sqlanon_tree_1"
UNION ALL
SELECT DISTINCT
  CAST(0 AS BIGINT) AS "attribute", CAST(2 AS BIGINT) AS "level", CAST(0 + ("rank_2" << 3) + (
    "rank_3" << 4
  ) AS BIGINT) AS "part_0",
  CAST("leaves_2" - 1 AS BIGINT) AS "others"
FROM "__sqlanon_tree_1"
UNION ALL
SELECT DISTINCT
  CAST(0 AS BIGINT) AS "attribute", CAST(3 AS BIGINT) AS "level", CAST(0 + ("rank_3" << 4) AS BIGINT) AS "part_0",
  CAST("leaves_3" - 1 AS BIGINT) AS "others"
FROM "__sqlanon_tree_1"
UNION ALL
SELECT
  CAST(0 AS BIGINT) AS "attribute", CAST(4 AS BIGINT) AS "level", CAST(0 AS BIGINT) AS "part_0",
  CAST(CAST(COALESCE(SUM("leaf"), 0) AS INT128) - 1 AS BIGINT) AS "others"
FROM "__sqlanon_tree_1"
UNION ALL
SELECT
  CAST(1 AS BIGINT) AS "attribute", CAST(1 AS BIGINT) AS "level", CAST(0 AS BIGINT) AS "part_0",
  CAST(CAST(COALESCE(SUM("leaf"), 0) AS INT128) - 1 AS BIGINT) AS "others"
FROM "__sqlanon_tree_2"
UNION ALL
SELECT DISTINCT
  CAST(2 AS BIGINT) AS "attribute", CAST(1 AS BIGINT) AS "level", CAST(0 + ("rank_1" << 9) AS BIGINT) AS "part_0",
  CAST("leaves_1" - 1 AS BIGINT) AS "others"
FROM "__sqlanon_tree_3"
UNION ALL
SELECT DISTINCT
  CAST(2 AS BIGINT) AS "attribute", CAST(2 AS BIGINT) AS "level", CAST(0 AS BIGINT) AS "part_0",
  CAST("leaves_2" - 1 AS BIGINT) AS "others"
FROM "__sqlanon_tree_3"
UNION ALL
SELECT DISTINCT
  CAST(2 AS BIGINT) AS "attribute", CAST(3 AS BIGINT) AS "level", CAST(0 AS BIGINT) AS "part_0",
  CAST("leaves_3" - 1 AS BIGINT) AS "others"
FROM "__sqlanon_tree_3"
UNION ALL
SELECT
  CAST(2 AS BIGINT) AS "attribute", CAST(4 AS BIGINT) AS "level", CAST(0 AS BIGINT) AS "part_0",
  CAST(CAST(COALESCE(SUM("leaf"), 0) AS INT128) - 1 AS BIGINT) AS "others"
FROM "__sqlanon_tree_3";
