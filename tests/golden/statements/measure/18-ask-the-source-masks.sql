-- Look for:

CREATE TEMPORARY TABLE "__sqlanon_mask_5" AS
SELECT
  UNNEST(CAST(? AS BIGINT[])) AS "first",
  UNNEST(CAST(? AS BIGINT[])) AS "code";
