SELECT COUNT(*) FROM ({violations({#1}, {#2}, {#3})}) AS "violations"
