-- Look for: the constants of all queries as parameters: query, place of the column, and low (with high only for
-- ranges).

CREATE TEMPORARY TABLE "__sqlanon_constant_1" AS
SELECT
  UNNEST(CAST(? AS BIGINT[])) AS "query_id", UNNEST(CAST(? AS INT[])) AS "column_index",
  UNNEST(CAST(? AS TEXT[])) AS "low", UNNEST(CAST(? AS TEXT[])) AS "high";
