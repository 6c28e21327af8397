-- Look for: which queries are asked together, numbered from 0: the number is the bit; with each result its function.

CREATE TEMPORARY TABLE "__sqlanon_among_1" AS
SELECT UNNEST(CAST(? AS INT[])) AS "query", UNNEST(CAST(? AS BIGINT[])) AS "query_id";

CREATE TEMPORARY TABLE "__sqlanon_asked_1" AS
SELECT
  UNNEST(CAST(? AS INT[])) AS "query", UNNEST(CAST(? AS BIGINT[])) AS "query_id", UNNEST(CAST(? AS TEXT[])) AS "result",
  UNNEST(CAST(? AS TEXT[])) AS "function";
