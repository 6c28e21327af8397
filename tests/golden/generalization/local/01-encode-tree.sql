-- Look for: the figures of all trees in one query, a row for each tree; lists, since trees differ in their levels.

SELECT
  0 AS "tree", [ CAST(SUM("leaf") AS INT128), CAST(SUM("n") AS INT128), CAST(MAX("rank_0") + 1 AS INT128)
  ] AS "figures"
FROM "__sqlanon_tree_1"
UNION ALL
SELECT
  1 AS "tree",
  [
    CAST(SUM("leaf") AS INT128), CAST(SUM("n") AS INT128), CAST(MAX("rank_0") + 1 AS INT128),
    CAST(MAX("rank_1") + 1 AS INT128), CAST(MAX("rank_2") + 1 AS INT128), CAST(MAX("rank_3") + 1 AS INT128),
    CAST(SUM("n" * ("leaves_1" - 1)) AS INT128), CAST(SUM("n" * ("leaves_2" - 1)) AS INT128),
    CAST(SUM("n" * ("leaves_3" - 1)) AS INT128), CAST(MAX("leaves_1") - 1 AS INT128),
    CAST(MAX("leaves_2") - 1 AS INT128), CAST(MAX("leaves_3") - 1 AS INT128)
  ] AS "figures"
FROM "__sqlanon_tree_2";
