-- Look for: items that only the hierarchy lists are left out. The rows of this table are what Python makes a tree of, and no rows of the source.

CREATE TEMPORARY TABLE "__sqlanon_leaf_1" AS
SELECT ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS "leaf", "value", "n", "level_1"
FROM "__sqlanon_item_1"
WHERE "n" > 0;

SELECT "n", CAST("value" AS TEXT), CAST("level_1" AS TEXT) FROM "__sqlanon_leaf_1" ORDER BY "leaf" ASC NULLS LAST;
