-- Look for: ranks over all values with NULL last, and positions on an axis: days for dates, with a place for NULL one
-- mean gap behind the last; the rank itself where values are texts or not all finite.

CREATE TEMPORARY TABLE "__sqlanon_ranked_1" AS
SELECT
  "value", "n", "leaf", "rank" AS "rank_0",
  CASE
    WHEN COALESCE(
      isfinite(
        (
          MAX(CAST(date_diff('day', CAST('1970-01-01' AS DATE), "value") AS DOUBLE)) OVER () + CASE
            WHEN COUNT(CAST(date_diff('day', CAST('1970-01-01' AS DATE), "value") AS DOUBLE)) OVER () > 1
            THEN (
              MAX(CAST(date_diff('day', CAST('1970-01-01' AS DATE), "value") AS DOUBLE)) OVER () - MIN(CAST(date_diff('day', CAST('1970-01-01' AS DATE), "value") AS DOUBLE)) OVER ()
            ) / (COUNT(CAST(date_diff('day', CAST('1970-01-01' AS DATE), "value") AS DOUBLE)) OVER () - 1)
            ELSE 1
          END
        ) - MIN(CAST(date_diff('day', CAST('1970-01-01' AS DATE), "value") AS DOUBLE)) OVER ()
      ),
      TRUE
    )
    AND COALESCE(
      BOOL_AND(
        CAST(isfinite(CAST(date_diff('day', CAST('1970-01-01' AS DATE), "value") AS DOUBLE)) AS BOOLEAN)
      ) OVER (),
      TRUE
    )
    AND COUNT(CAST(date_diff('day', CAST('1970-01-01' AS DATE), "value") AS DOUBLE)) OVER () = COUNT("value") OVER ()
    THEN COALESCE(
      CAST(date_diff('day', CAST('1970-01-01' AS DATE), "value") AS DOUBLE),
      MAX(CAST(date_diff('day', CAST('1970-01-01' AS DATE), "value") AS DOUBLE)) OVER () + CASE
        WHEN COUNT(CAST(date_diff('day', CAST('1970-01-01' AS DATE), "value") AS DOUBLE)) OVER () > 1
        THEN (
          MAX(CAST(date_diff('day', CAST('1970-01-01' AS DATE), "value") AS DOUBLE)) OVER () - MIN(CAST(date_diff('day', CAST('1970-01-01' AS DATE), "value") AS DOUBLE)) OVER ()
        ) / (COUNT(CAST(date_diff('day', CAST('1970-01-01' AS DATE), "value") AS DOUBLE)) OVER () - 1)
        ELSE 1
      END,
      CAST(0 AS DOUBLE)
    )
    ELSE CAST("rank" AS DOUBLE)
  END AS "position"
FROM ({numbered-2("__sqlanon_tree_1")}) AS "numbered";

CREATE TEMPORARY TABLE "__sqlanon_ranked_2" AS
SELECT "value", "n", "leaf", "rank" AS "rank_0", CAST("rank" AS DOUBLE) AS "position"
FROM ({numbered-2("__sqlanon_tree_2")}) AS "numbered";
