SELECT "class_id" FROM ({violation({#1})}) AS "violations"
