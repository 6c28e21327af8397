-- Look for: the best cut of each region with its field's shift and mask; halves labelled by > median, so that equal
-- values stay together; what is not cut has no row here; the halves become the points of the next attempt.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_cut_1" AS
SELECT
  "turn"."region", "turn"."label", "turn"."median",
  list_extract([CAST(0 AS BIGINT), CAST(5 AS BIGINT), CAST(6 AS BIGINT)], "turn"."dim" + 1) AS "shift",
  list_extract([CAST(31 AS BIGINT), CAST(1 AS BIGINT), CAST(15 AS BIGINT)], "turn"."dim" + 1) AS "mask"
FROM (
  SELECT
    "number" AS "region", "label", STRUCT_EXTRACT("best", 'dim') AS "dim", STRUCT_EXTRACT("best", 'median') AS "median"
  FROM (
    SELECT CAST(ROW_NUMBER() OVER () - 1 AS INT) AS "number", "label", "best"
    FROM (
      SELECT
        "cut"."label",
        MIN(
          {'narrow': -(
            CASE
              WHEN "cut"."dim" = 0
              THEN CAST(1.0 AS DOUBLE) * (("last_0"."position" - "first_0"."position") / CAST(6828.0 AS DOUBLE))
              WHEN "cut"."dim" = 1
              THEN CAST(1.0 AS DOUBLE) * (CAST((("cut"."high" - "cut"."low") + 1) AS DOUBLE) / CAST(2.0 AS DOUBLE))
              WHEN "cut"."dim" = 2
              THEN CAST(1.0 AS DOUBLE) * (CAST((("cut"."high" - "cut"."low") + 1) AS DOUBLE) / CAST(14.0 AS DOUBLE))
            END
          ), 'dim': "cut"."dim", 'apart': ABS((
            "cut"."rows" - "cut"."lower"
          ) - "cut"."lower"), 'lower': "cut"."lower", 'median': "cut"."value"}
        ) AS "best"
      FROM ({cut}) AS "cut"
      LEFT JOIN "__sqlanon_ranked_1" AS "first_0" ON "cut"."dim" = 0 AND "first_0"."rank_0" = "cut"."low"
      LEFT JOIN "__sqlanon_ranked_1" AS "last_0" ON "cut"."dim" = 0 AND "last_0"."rank_0" = "cut"."high"
      WHERE "cut"."lower" >= 3 AND ("cut"."rows" - "cut"."lower") >= 3
      GROUP BY "cut"."label"
    ) AS "best_of_region"
  ) AS "candidate"
) AS "turn";
