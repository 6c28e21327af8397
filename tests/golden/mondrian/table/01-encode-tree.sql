-- Look for: without a hierarchy a tree has no levels: values in value order, and nothing else. That of sex is as in
-- generalization.

CREATE TEMPORARY TABLE "__sqlanon_tree_1" AS
SELECT "value", "n", "leaf", CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_0"
FROM ({spans("dob", "memory", "patients")}) AS "spans";

CREATE TEMPORARY TABLE "__sqlanon_tree_3" AS
SELECT "value", "n", "leaf", CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_0"
FROM ({spans("zip", "memory", "patients")}) AS "spans";

SELECT
  0 AS "tree", [ CAST(SUM("leaf") AS INT128), CAST(SUM("n") AS INT128), CAST(MAX("rank_0") + 1 AS INT128)
  ] AS "figures"
FROM "__sqlanon_tree_1"
UNION ALL
SELECT
  1 AS "tree", [ CAST(SUM("leaf") AS INT128), CAST(SUM("n") AS INT128), CAST(MAX("rank_0") + 1 AS INT128)
  ] AS "figures"
FROM "__sqlanon_tree_2"
UNION ALL
SELECT
  2 AS "tree", [ CAST(SUM("leaf") AS INT128), CAST(SUM("n") AS INT128), CAST(MAX("rank_0") + 1 AS INT128)
  ] AS "figures"
FROM "__sqlanon_tree_3";
