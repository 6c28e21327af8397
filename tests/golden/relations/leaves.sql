SELECT DISTINCT
  UNNEST(CAST([0, 0, 0] AS BIGINT[])) AS "attribute", UNNEST(CAST([1, 2, 3] AS BIGINT[])) AS "level",
  UNNEST(
    CAST([
      0 + ("rank_1" << 2) + ("rank_2" << 3) + ("rank_3" << 4), 0 + ("rank_2" << 3) + ("rank_3" << 4),
      0 + ("rank_3" << 4)
    ] AS BIGINT[])
  ) AS "part_0",
  UNNEST(CAST(["leaves_1" - 1, "leaves_2" - 1, "leaves_3" - 1] AS BIGINT[])) AS "others"
FROM "__sqlanon_tree_1"
UNION ALL
SELECT DISTINCT
  UNNEST(CAST([2, 2, 2] AS BIGINT[])) AS "attribute", UNNEST(CAST([1, 2, 3] AS BIGINT[])) AS "level",
  UNNEST(CAST([0 + ("rank_1" << 9), 0, 0] AS BIGINT[])) AS "part_0",
  UNNEST(CAST(["leaves_1" - 1, "leaves_2" - 1, "leaves_3" - 1] AS BIGINT[])) AS "others"
FROM "__sqlanon_tree_3"
UNION ALL
SELECT
  UNNEST(CAST([0, 1, 2] AS BIGINT[])) AS "attribute", UNNEST(CAST([4, 1, 4] AS BIGINT[])) AS "level",
  UNNEST(CAST([0, 0, 0] AS BIGINT[])) AS "part_0", UNNEST(CAST([16, 1, 13] AS BIGINT[])) AS "others"
