-- Look for: the values of each quasi-identifier in their order: what ranks and positions are made from.

CREATE TEMPORARY TABLE "__sqlanon_tree_1" AS
SELECT "value", "n", "leaf", CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_0"
FROM ({spans("dob", "temp", "__sqlanon_source_2")}) AS "spans";

CREATE TEMPORARY TABLE "__sqlanon_tree_2" AS
SELECT "value", "n", "leaf", CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_0"
FROM ({spans("sex", "temp", "__sqlanon_source_2")}) AS "spans";

CREATE TEMPORARY TABLE "__sqlanon_tree_3" AS
SELECT "value", "n", "leaf", CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_0"
FROM ({spans("zip", "temp", "__sqlanon_source_2")}) AS "spans";
