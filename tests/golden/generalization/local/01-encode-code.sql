-- Look for: the fields of a policy of two attributes: five bits, sex in the lowest.

CREATE TEMPORARY TABLE "__sqlanon_code_1" AS SELECT "value", ("rank_0" << 0) AS "key_0" FROM "__sqlanon_tree_1";

CREATE TEMPORARY TABLE "__sqlanon_code_2" AS
SELECT "value", ("rank_0" << 1) + ("rank_1" << 4) AS "key_0"
FROM "__sqlanon_tree_2";
