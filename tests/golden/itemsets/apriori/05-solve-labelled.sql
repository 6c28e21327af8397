-- Look for: a NULL item is joined by IS NOT DISTINCT FROM. The table is changed in place: labels that were raised go, those above them come;
-- MIN of heights says how far a label of the rare set has to be raised for a list to have it.

CREATE TEMPORARY TABLE "__sqlanon_labelled_1" AS
SELECT DISTINCT "listed"."class", "listed"."list_id", "node"."code"
FROM (SELECT "class", "list_id", UNNEST("list") AS "item" FROM "__sqlanon_row_1" AS "listed") AS "listed"
JOIN "__sqlanon_leaf_1" AS "leaf" ON "leaf"."value" IS NOT DISTINCT FROM "listed"."item"
JOIN "__sqlanon_node_1" AS "node" ON "node"."leaf" = "leaf"."leaf";

SELECT "class", COUNT(DISTINCT "list_id") FROM "__sqlanon_labelled_1" GROUP BY "class";

SELECT "height_0", "height_1", COUNT(*)
FROM (
  SELECT MIN("height"."height_0") AS "height_0", MIN("height"."height_1") AS "height_1"
  FROM "__sqlanon_labelled_1" AS "labelled"
  JOIN "__sqlanon_height_1" AS "height" ON "labelled"."code" = "height"."code"
  WHERE "labelled"."class" = 1
  GROUP BY "labelled"."list_id"
) AS "list"
GROUP BY "height_0", "height_1";

DELETE FROM "__sqlanon_labelled_1" WHERE "code" IN (SELECT "code" FROM "__sqlanon_raised_1");
INSERT INTO "__sqlanon_labelled_1" SELECT * FROM "__sqlanon_moved_1";
