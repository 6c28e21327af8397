-- Look for:

CREATE TEMPORARY TABLE "__sqlanon_refused_1" AS
SELECT
  CAST(NULL AS BIGINT) AS "query_id"
WHERE
  FALSE;
