-- Look for: a rank a quasi-identifier, side by side in one word; no levels, so one field each.

CREATE TEMPORARY TABLE "__sqlanon_code_1" AS SELECT "value", ("rank_0" << 0) AS "key_0" FROM "__sqlanon_ranked_1";
CREATE TEMPORARY TABLE "__sqlanon_code_2" AS SELECT "value", ("rank_0" << 5) AS "key_0" FROM "__sqlanon_ranked_2";
CREATE TEMPORARY TABLE "__sqlanon_code_3" AS SELECT "value", ("rank_0" << 6) AS "key_0" FROM "__sqlanon_ranked_3";
