-- Look for: the diseases of the other fragment are the values that were dealt out, each row with weight 1.

CREATE TEMPORARY TABLE "__sqlanon_leaf_1" AS
SELECT "label", "listed", "part_0", CASE WHEN COUNT(*) = COUNT("weight") THEN SUM("weight") END AS "weight"
FROM ({leaf(0)}) AS "leaf"
GROUP BY "label", "listed", "part_0";
