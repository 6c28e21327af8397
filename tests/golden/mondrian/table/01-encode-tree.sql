-- Look for: without a hierarchy a tree has no levels: values in value order, and nothing else. That of sex is as in
-- generalization.

CREATE TEMPORARY TABLE "__sqlanon_tree_1" AS
SELECT "value", "n", "leaf", CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_0"
FROM ({spans("dob", "memory", "patients")}) AS "spans";

CREATE TEMPORARY TABLE "__sqlanon_tree_3" AS
SELECT "value", "n", "leaf", CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_0"
FROM ({spans("zip", "memory", "patients")}) AS "spans";
