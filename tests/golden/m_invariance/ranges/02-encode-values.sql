-- Look for: the values of the sensitive attribute, which requirements ask about.

CREATE TEMPORARY TABLE "__sqlanon_values_1" AS
SELECT "value", "n", "leaf", CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_0"
FROM ({spans("disease", "temp", "__sqlanon_source_2")}) AS "spans";
