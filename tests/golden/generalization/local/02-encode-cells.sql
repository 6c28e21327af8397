-- Look for: two codes a key; the rounds read these cells, and never the source again.

CREATE TEMPORARY TABLE "__sqlanon_cells_1" AS
SELECT "code_0"."key_0" + "code_1"."key_0" AS "key_0", COUNT(*) AS "n"
FROM "memory"."main"."patients" AS "source"
JOIN (SELECT "value", ("rank_0" << 0) AS "key_0" FROM "__sqlanon_tree_1") AS "code_0"
  ON "source"."sex" IS NOT DISTINCT FROM "code_0"."value"
JOIN (SELECT "value", ("rank_0" << 1) + ("rank_1" << 4) AS "key_0" FROM "__sqlanon_tree_2") AS "code_1"
  ON "source"."zip" IS NOT DISTINCT FROM "code_1"."value"
GROUP BY "code_0"."key_0" + "code_1"."key_0";
