SELECT "class_id" >> {#1} AS "index", "class_id", "size" FROM ({violation({#2})}) AS "violation"
