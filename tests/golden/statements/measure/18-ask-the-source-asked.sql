-- Look for:

CREATE TEMPORARY TABLE "__sqlanon_among_2" AS
SELECT
  UNNEST(CAST(? AS INT[])) AS "query",
  UNNEST(CAST(? AS BIGINT[])) AS "query_id";

CREATE TEMPORARY TABLE "__sqlanon_asked_2" AS
SELECT
  UNNEST(CAST(? AS INT[])) AS "query",
  UNNEST(CAST(? AS BIGINT[])) AS "query_id",
  UNNEST(CAST(? AS TEXT[])) AS "result",
  UNNEST(CAST(? AS TEXT[])) AS "function";
