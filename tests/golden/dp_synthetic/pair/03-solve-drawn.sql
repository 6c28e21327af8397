-- Look for: the rows are drawn outside of the database: the codes of a row are one number.

CREATE TEMPORARY TABLE "__sqlanon_drawn_1" AS
SELECT UNNEST(CAST($1 AS BIGINT[])) AS "w0", UNNEST(CAST($2 AS BIGINT[])) AS "o1";
