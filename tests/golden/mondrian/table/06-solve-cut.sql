-- Look for: the best cut of each region with its field's shift and mask; halves labelled by > median, so that equal
-- values stay together; what is not cut has no row here; the halves become the points of the next attempt.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_cut_1" AS
SELECT
  "turn"."region", "turn"."label", "turn"."median",
  list_extract([CAST(0 AS BIGINT), CAST(5 AS BIGINT), CAST(6 AS BIGINT)], "turn"."dim" + 1) AS "shift",
  list_extract([CAST(31 AS BIGINT), CAST(1 AS BIGINT), CAST(15 AS BIGINT)], "turn"."dim" + 1) AS "mask"
FROM (
  SELECT "number" AS "region", "label", "best"['dim'] AS "dim", "best"['median'] AS "median"
  FROM (
    SELECT CAST(ROW_NUMBER() OVER () - 1 AS INT) AS "number", "label", "best"
    FROM (
      SELECT
        "label",
        MIN(
          {'narrow': "narrow", 'dim': "dim", 'apart': ABS((
            "rows" - "lower"
          ) - "lower"), 'lower': "lower", 'median': "value"}
        ) AS "best"
      FROM ({cut}) AS "cut"
      WHERE "lower" >= 3 AND "rows" - "lower" >= 3
      GROUP BY "label"
    ) AS "best_of_region"
  ) AS "candidate"
) AS "turn";
