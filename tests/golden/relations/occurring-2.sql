SELECT "value", 1 AS "n" FROM {#1} WHERE "rank_2" = {#2} AND "rank_3" = {#2}
