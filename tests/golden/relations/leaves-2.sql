SELECT DISTINCT
  UNNEST(CAST([1, 1, 1] AS BIGINT[])) AS "attribute", UNNEST(CAST([1, 2, 3] AS BIGINT[])) AS "level",
  UNNEST(CAST([0 + ("rank_1" << 4), 0, 0] AS BIGINT[])) AS "part_0",
  UNNEST(CAST(["leaves_1" - 1, "leaves_2" - 1, "leaves_3" - 1] AS BIGINT[])) AS "others"
FROM "__sqlanon_tree_2"
UNION ALL
SELECT
  UNNEST(CAST([0, 1] AS BIGINT[])) AS "attribute", UNNEST(CAST([1, 4] AS BIGINT[])) AS "level",
  UNNEST(CAST([0, 0] AS BIGINT[])) AS "part_0", UNNEST(CAST([1, 13] AS BIGINT[])) AS "others"
