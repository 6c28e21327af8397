-- Look for:

CREATE TEMPORARY TABLE "__sqlanon_code_1" AS
SELECT
  "value",
  (
    "rank_0" << 0
  ) AS "key_0"
FROM "__sqlanon_ranked_1";

CREATE TEMPORARY TABLE "__sqlanon_code_2" AS
SELECT
  "value",
  (
    "rank_0" << 5
  ) AS "key_0"
FROM "__sqlanon_ranked_2";

CREATE TEMPORARY TABLE "__sqlanon_code_3" AS
SELECT
  "value",
  (
    "rank_0" << 6
  ) AS "key_0"
FROM "__sqlanon_ranked_3";

CREATE TEMPORARY TABLE "__sqlanon_code_4" AS
SELECT
  "value",
  (
    "rank_0" << 10
  ) AS "key_0"
FROM "__sqlanon_values_1";
