-- Look for: the cells: combinations of codes, by respondent.

CREATE TEMPORARY TABLE "__sqlanon_cells_1" AS
SELECT "code_0"."key_0" + "code_2"."key_0" + "code_3"."key_0" AS "key_0", "source"."number" AS "entity", COUNT(*) AS "n"
FROM "temp"."main"."__sqlanon_source_2" AS "source"
JOIN (SELECT "value", ("rank_0" << 0) AS "key_0" FROM "__sqlanon_ranked_1") AS "code_0"
  ON "source"."dob" IS NOT DISTINCT FROM "code_0"."value"
JOIN (SELECT "value", ("rank_0" << 3) AS "key_0" FROM "__sqlanon_ranked_3") AS "code_2"
  ON "source"."zip" IS NOT DISTINCT FROM "code_2"."value"
JOIN (SELECT "value", ("rank_0" << 6) AS "key_0" FROM "__sqlanon_values_1") AS "code_3"
  ON "source"."disease" IS NOT DISTINCT FROM "code_3"."value"
GROUP BY "code_0"."key_0" + "code_2"."key_0" + "code_3"."key_0", "source"."number";
