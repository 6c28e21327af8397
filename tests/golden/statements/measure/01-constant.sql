-- Look for: the constants of all queries as parameters: query, place of the column, and low (with high only for
-- ranges).

CREATE TEMPORARY TABLE "__sqlanon_constant_1" AS
SELECT "query_id", "column_index", UNNEST("lows") AS "low", "high"
FROM (
  SELECT
    UNNEST(CAST(? AS BIGINT[])) AS "query_id", UNNEST(CAST(? AS INT[])) AS "column_index",
    UNNEST(CAST(? AS TEXT[][])) AS "lows", UNNEST(CAST(? AS TEXT[])) AS "high"
) AS "slot";
