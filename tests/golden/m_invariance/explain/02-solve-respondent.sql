-- Look for: the text of each respondent, as the ledger knows it, beside the value that rows are joined by.

CREATE TEMPORARY TABLE "__sqlanon_respondent_1" AS
SELECT DISTINCT
  "number" AS "entity",
  CAST("number" AS TEXT) AS "respondent"
FROM "temp"."main"."__sqlanon_source_2";
