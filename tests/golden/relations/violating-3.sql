SELECT COUNT(*) FROM ({violation({#1})}) AS "violations"
