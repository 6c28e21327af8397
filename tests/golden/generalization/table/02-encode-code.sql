-- Look for: the ranks of a value side by side as bit fields, the most general in the highest bits; the three
-- attributes share one 64-bit word and no two fields overlap; a level whose nodes have no siblings takes no bits.

CREATE TEMPORARY TABLE "__sqlanon_code_1" AS
SELECT "value", ("rank_0" << 0) + ("rank_1" << 2) + ("rank_2" << 3) + ("rank_3" << 4) AS "key_0"
FROM "__sqlanon_tree_1";

CREATE TEMPORARY TABLE "__sqlanon_code_2" AS SELECT "value", ("rank_0" << 5) AS "key_0" FROM "__sqlanon_tree_2";

CREATE TEMPORARY TABLE "__sqlanon_code_3" AS
SELECT "value", ("rank_0" << 6) + ("rank_1" << 9) AS "key_0"
FROM "__sqlanon_tree_3";
