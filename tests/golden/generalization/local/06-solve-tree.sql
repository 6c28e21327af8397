-- Look for: the trees of a later round have the first one's ranks and spans, and only new counts, of the cells that
-- are left; LEFT JOIN, so that a value without rows keeps its place with n = 0.

CREATE TEMPORARY TABLE "__sqlanon_tree_3" AS
SELECT "tree".* EXCLUDE ("n"), "counted"."n"
FROM "__sqlanon_tree_1" AS "tree"
JOIN ({counted-4(0, "__sqlanon_tree_1", 1)}) AS "counted" ON "counted"."value" IS NOT DISTINCT FROM "tree"."value";

CREATE TEMPORARY TABLE "__sqlanon_tree_4" AS
SELECT "tree".* EXCLUDE ("n"), "counted"."n"
FROM "__sqlanon_tree_2" AS "tree"
JOIN (
  SELECT "coded"."value", CAST(COALESCE(SUM("cell"."n"), 0) AS BIGINT) AS "n"
  FROM (SELECT "value", ("rank_0" << 1) + ("rank_1" << 4) AS "key_0" FROM "__sqlanon_tree_2") AS "coded"
  LEFT JOIN "__sqlanon_cells_3" AS "cell" ON ("cell"."key_0" & 30) = "coded"."key_0"
  GROUP BY "coded"."value"
) AS "counted" ON "counted"."value" IS NOT DISTINCT FROM "tree"."value";
