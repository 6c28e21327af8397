SELECT COUNT(*) FROM ({violation-4({#1}, {#2})}) AS "violations"
