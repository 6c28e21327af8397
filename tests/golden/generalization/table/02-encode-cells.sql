-- Look for: the only place of the search that reads the source; IS NOT DISTINCT FROM, so that NULL is a value; codes
-- that add up to one key; a row per distinct combination, with its number of rows.

CREATE TEMPORARY TABLE "__sqlanon_cells_1" AS
SELECT "code_0"."key_0" + "code_1"."key_0" + "code_2"."key_0" AS "key_0", COUNT(*) AS "n"
FROM "memory"."main"."patients" AS "source"
JOIN (
  SELECT "value", ("rank_0" << 0) + ("rank_1" << 2) + ("rank_2" << 3) + ("rank_3" << 4) AS "key_0"
  FROM "__sqlanon_tree_1"
) AS "code_0" ON "source"."dob" IS NOT DISTINCT FROM "code_0"."value"
JOIN (SELECT "value", ("rank_0" << 5) AS "key_0" FROM "__sqlanon_tree_2") AS "code_1"
  ON "source"."sex" IS NOT DISTINCT FROM "code_1"."value"
JOIN (SELECT "value", ("rank_0" << 6) + ("rank_1" << 9) AS "key_0" FROM "__sqlanon_tree_3") AS "code_2"
  ON "source"."zip" IS NOT DISTINCT FROM "code_2"."value"
GROUP BY "code_0"."key_0" + "code_1"."key_0" + "code_2"."key_0";
