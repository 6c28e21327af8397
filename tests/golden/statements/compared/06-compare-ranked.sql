-- Look for: ranks that are made of the trees that generalization has used, not of the source.

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
  END AS "position",
  MIN("rank") OVER (PARTITION BY "rank_1", "rank_2", "rank_3") AS "first_1",
  MIN("rank") OVER (PARTITION BY "rank_2", "rank_3") AS "first_2",
  MIN("rank") OVER (PARTITION BY "rank_3") AS "first_3", "leaves_1", "leaves_2", "leaves_3"
FROM ({numbered-2("__sqlanon_tree_1")}) AS "numbered";

CREATE TEMPORARY TABLE "__sqlanon_ranked_3" AS
SELECT
  "value", "n", "leaf", "rank" AS "rank_0", CAST("rank" AS DOUBLE) AS "position",
  MIN("rank") OVER (PARTITION BY "rank_1", "rank_2", "rank_3") AS "first_1",
  MIN("rank") OVER (PARTITION BY "rank_2", "rank_3") AS "first_2",
  MIN("rank") OVER (PARTITION BY "rank_3") AS "first_3", "leaves_1", "leaves_2", "leaves_3"
FROM (
  SELECT
    *,
    CAST(ROW_NUMBER() OVER (
      ORDER BY "rank_3" IS NULL ASC NULLS LAST, "rank_3" ASC NULLS LAST, "rank_2" IS NULL ASC NULLS LAST, "rank_2" ASC NULLS LAST, "rank_1" IS NULL ASC NULLS LAST, "rank_1" ASC NULLS LAST, "rank_0" IS NULL ASC NULLS LAST, "rank_0" ASC NULLS LAST
    ) - 1 AS BIGINT) AS "rank"
  FROM "__sqlanon_tree_3"
) AS "numbered";
