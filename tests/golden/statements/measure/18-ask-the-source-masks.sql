-- Look for: where the set of satisfied queries changes along a column's numbers, and the code of the set from there
-- on: as parameters.

CREATE TEMPORARY TABLE "__sqlanon_mask_1" AS
SELECT UNNEST(CAST(? AS BIGINT[])) AS "first", UNNEST(CAST(? AS BIGINT[])) AS "code";
