-- Look for: the cells of Mondrian are made of those of generalization: each column's code is replaced by that of the
-- same value, rows are not counted again, and the source is not read.

CREATE TEMPORARY TABLE "__sqlanon_cells_4" AS
SELECT "code_0"."key_0" + "code_1"."key_0" + "code_2"."key_0" AS "key_0", "cell"."n"
FROM "__sqlanon_cells_1" AS "cell"
JOIN (
  SELECT "former"."key_0" AS "former_0", "code"."key_0"
  FROM (
    SELECT "value", ("rank_0" << 0) + ("rank_1" << 2) + ("rank_2" << 3) + ("rank_3" << 4) AS "key_0"
    FROM "__sqlanon_tree_1"
  ) AS "former"
  JOIN (SELECT "value", ("rank_0" << 0) AS "key_0" FROM "__sqlanon_ranked_1") AS "code"
    ON "former"."value" IS NOT DISTINCT FROM "code"."value"
) AS "code_0" ON ("cell"."key_0" & 31) = "code_0"."former_0"
JOIN (
  SELECT "former"."key_0" AS "former_0", "code"."key_0"
  FROM (SELECT "value", ("rank_0" << 5) AS "key_0" FROM "__sqlanon_tree_2") AS "former"
  JOIN (SELECT "value", ("rank_0" << 5) AS "key_0" FROM "__sqlanon_ranked_2") AS "code"
    ON "former"."value" IS NOT DISTINCT FROM "code"."value"
) AS "code_1" ON ("cell"."key_0" & 32) = "code_1"."former_0"
JOIN (
  SELECT "former"."key_0" AS "former_0", "code"."key_0"
  FROM (SELECT "value", ("rank_0" << 6) + ("rank_1" << 9) AS "key_0" FROM "__sqlanon_tree_3") AS "former"
  JOIN (SELECT "value", ("rank_0" << 6) AS "key_0" FROM "__sqlanon_ranked_3") AS "code"
    ON "former"."value" IS NOT DISTINCT FROM "code"."value"
) AS "code_2" ON ("cell"."key_0" & 960) = "code_2"."former_0";
