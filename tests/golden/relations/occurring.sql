SELECT "value", 1 AS "n" FROM {#1} WHERE "rank_1" = {#2} AND "rank_2" = {#3} AND "rank_3" = {#3}
