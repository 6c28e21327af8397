SELECT COUNT(*) FROM ({violation-10({#1})}) AS "violations"
