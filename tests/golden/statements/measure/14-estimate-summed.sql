-- Look for: the sums over classes are computed in arrays and are lists here; hits are NULL if a share is unknown.

CREATE TEMPORARY TABLE "__sqlanon_summed_1" AS
SELECT
  UNNEST(CAST(? AS INT[])) AS "query", UNNEST(CAST(? AS DOUBLE[])) AS "hits", UNNEST(CAST(? AS DOUBLE[])) AS "variance",
  UNNEST(CAST(? AS BIGINT[])) AS "low", UNNEST(CAST(? AS BIGINT[])) AS "high";
