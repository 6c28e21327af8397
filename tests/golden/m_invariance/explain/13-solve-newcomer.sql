-- Look for: only newcomers get random bits here; those who stay have a signature already.

CREATE TEMPORARY TABLE "__sqlanon_newcomer_1" AS
SELECT *, udf(0) AS "draw"
FROM (SELECT "row_no", "code" FROM "__sqlanon_source_row_1" WHERE "signature" IS NULL) AS "each";
