SELECT "label", SUM("weight") AS "n"
FROM (SELECT "bucket" AS "label", "weight" FROM ({row-2({#1})}) AS "value") AS "value"
GROUP BY "label"
