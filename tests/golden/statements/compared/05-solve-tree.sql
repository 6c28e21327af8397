-- Look for: what the round leaves, as a source of its own: the trees with other numbers of rows.

CREATE TEMPORARY TABLE "__sqlanon_tree_4" AS
SELECT "tree".* EXCLUDE ("n"), "counted"."n"
FROM "__sqlanon_tree_1" AS "tree"
JOIN (
  SELECT "coded"."value", CAST(COALESCE(SUM("cell"."n"), 0) AS BIGINT) AS "n"
  FROM (
    SELECT "value", ("rank_0" << 0) + ("rank_1" << 2) + ("rank_2" << 3) + ("rank_3" << 4) AS "key_0"
    FROM "__sqlanon_tree_1"
  ) AS "coded"
  LEFT JOIN "__sqlanon_cells_3" AS "cell" ON ("cell"."key_0" & 31) = "coded"."key_0"
  GROUP BY "coded"."value"
) AS "counted" ON "counted"."value" IS NOT DISTINCT FROM "tree"."value";

CREATE TEMPORARY TABLE "__sqlanon_tree_5" AS
SELECT "tree".* EXCLUDE ("n"), "counted"."n"
FROM "__sqlanon_tree_2" AS "tree"
JOIN ({counted-4(5, "__sqlanon_tree_2", 32)}) AS "counted" ON "counted"."value" IS NOT DISTINCT FROM "tree"."value";

CREATE TEMPORARY TABLE "__sqlanon_tree_6" AS
SELECT "tree".* EXCLUDE ("n"), "counted"."n"
FROM "__sqlanon_tree_3" AS "tree"
JOIN (
  SELECT "coded"."value", CAST(COALESCE(SUM("cell"."n"), 0) AS BIGINT) AS "n"
  FROM (SELECT "value", ("rank_0" << 6) + ("rank_1" << 9) AS "key_0" FROM "__sqlanon_tree_3") AS "coded"
  LEFT JOIN "__sqlanon_cells_3" AS "cell" ON ("cell"."key_0" & 960) = "coded"."key_0"
  GROUP BY "coded"."value"
) AS "counted" ON "counted"."value" IS NOT DISTINCT FROM "tree"."value";
