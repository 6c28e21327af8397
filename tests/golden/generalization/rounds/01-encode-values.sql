-- Look for: values of the sensitive column numbered in value order like a quasi-identifier without a hierarchy, for
-- t-closeness needs them in the key.

CREATE TEMPORARY TABLE "__sqlanon_values_1" AS
SELECT "value", "n", "leaf", CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_0"
FROM ({spans("disease", "memory", "patients")}) AS "spans";
