-- Look for:

CREATE TEMPORARY TABLE "__sqlanon_code_1" AS
SELECT
  "value",
  (
    "rank_0" << 0
  ) + (
    "rank_1" << 2
  ) + (
    "rank_2" << 3
  ) + (
    "rank_3" << 4
  ) AS "key_0"
FROM "__sqlanon_tree_1";

CREATE TEMPORARY TABLE "__sqlanon_code_2" AS
SELECT
  "value",
  (
    "rank_0" << 5
  ) AS "key_0"
FROM "__sqlanon_tree_2";

CREATE TEMPORARY TABLE "__sqlanon_code_3" AS
SELECT
  "value",
  (
    "rank_0" << 6
  ) + (
    "rank_1" << 9
  ) AS "key_0"
FROM "__sqlanon_tree_3";

CREATE TEMPORARY TABLE "__sqlanon_code_4" AS
SELECT
  "value",
  (
    "rank_0" << 10
  ) AS "key_0"
FROM "__sqlanon_values_1";
