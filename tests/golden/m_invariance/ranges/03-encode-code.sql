-- Look for: the codes of values as bits of a key.

CREATE TEMPORARY TABLE "__sqlanon_code_2" AS SELECT "value", ("rank_0" << 3) AS "key_0" FROM "__sqlanon_ranked_3";
CREATE TEMPORARY TABLE "__sqlanon_code_3" AS SELECT "value", ("rank_0" << 6) AS "key_0" FROM "__sqlanon_values_1";
