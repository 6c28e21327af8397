-- Look for: all values that the series has had, of which counterfeits are made.

CREATE TEMPORARY TABLE "__sqlanon_known_value_1" AS
SELECT CAST("value" AS TEXT) AS "value"
FROM (SELECT DISTINCT "value" FROM "anon"."series_value" WHERE "series_id" = $1 AND "attribute" = $2) AS "known";
