-- Look for: no hierarchy is read: the items that occur, and how many lists have each.

CREATE TEMPORARY TABLE "__sqlanon_item_1" AS SELECT "value", "n" FROM ({occurring-3}) AS "occurring";
