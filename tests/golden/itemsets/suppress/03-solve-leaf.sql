-- Look for: the items in the order of their texts; Python makes a tree of one level of them.

CREATE TEMPORARY TABLE "__sqlanon_leaf_1" AS
SELECT ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS "leaf", "value", "n"
FROM "__sqlanon_item_1"
WHERE "n" > 0;

SELECT "n", CAST("value" AS TEXT) FROM "__sqlanon_leaf_1" ORDER BY "leaf" ASC NULLS LAST;
