-- Look for: for each region and dimension the cut with most gain; n log2 n as whole numbers of 2^-20, so that a sum
-- does not depend on its order; cuts with fewer than k rows on a side are left out before.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_gained_1" AS
SELECT "region", "dim", "value" AS "median", "gain", "width"
FROM (
  SELECT
    *,
    ROW_NUMBER() OVER (
      PARTITION BY "region", "dim"
      ORDER BY "gain" DESC NULLS LAST, "apart" ASC NULLS LAST, "lower" ASC NULLS LAST
    ) AS "rank"
  FROM (
    SELECT
      "region", "dim", "value", "width", "lower",
      CAST("information" - CASE
        WHEN ("lower") > 0
        THEN CAST(ROUND(
          CAST(("lower") AS DOUBLE) * LN(CAST((
            "lower"
          ) AS DOUBLE)) / CAST(0.6931471805599453 AS DOUBLE) * CAST(1048576.0 AS DOUBLE)
        ) AS INT128)
        ELSE CAST(0 AS INT128)
      END - CASE
        WHEN (("rows" - "lower")) > 0
        THEN CAST(ROUND(
          CAST((("rows" - "lower")) AS DOUBLE) * LN(CAST(((
            "rows" - "lower"
          )) AS DOUBLE)) / CAST(0.6931471805599453 AS DOUBLE) * CAST(1048576.0 AS DOUBLE)
        ) AS INT128)
        ELSE CAST(0 AS INT128)
      END AS INT128) AS "gain",
      ABS(("rows" - "lower") - "lower") AS "apart"
    FROM (
      SELECT
        "region", "dim", "value", "width",
        SUM("added") OVER (PARTITION BY "region", "dim" ORDER BY "value" ASC NULLS LAST) AS "information",
        SUM("n") OVER (PARTITION BY "region", "dim" ORDER BY "value" ASC NULLS LAST) AS "lower",
        SUM("n") OVER (PARTITION BY "region", "dim") AS "rows"
      FROM (
        SELECT
          "region", "dim", "value", MAX("width") AS "width",
          SUM(
            CASE
              WHEN ("below") > 0
              THEN CAST(ROUND(
                CAST(("below") AS DOUBLE) * LN(CAST((
                  "below"
                ) AS DOUBLE)) / CAST(0.6931471805599453 AS DOUBLE) * CAST(1048576.0 AS DOUBLE)
              ) AS INT128)
              ELSE CAST(0 AS INT128)
            END - CASE
              WHEN (("below" - "n")) > 0
              THEN CAST(ROUND(
                CAST((("below" - "n")) AS DOUBLE) * LN(CAST(((
                  "below" - "n"
                )) AS DOUBLE)) / CAST(0.6931471805599453 AS DOUBLE) * CAST(1048576.0 AS DOUBLE)
              ) AS INT128)
              ELSE CAST(0 AS INT128)
            END + CASE
              WHEN (("whole" - "below")) > 0
              THEN CAST(ROUND(
                CAST((("whole" - "below")) AS DOUBLE) * LN(CAST(((
                  "whole" - "below"
                )) AS DOUBLE)) / CAST(0.6931471805599453 AS DOUBLE) * CAST(1048576.0 AS DOUBLE)
              ) AS INT128)
              ELSE CAST(0 AS INT128)
            END - CASE
              WHEN ((("whole" - "below") + "n")) > 0
              THEN CAST(ROUND(
                CAST(((("whole" - "below") + "n")) AS DOUBLE) * LN(CAST(((
                  ("whole" - "below") + "n"
                )) AS DOUBLE)) / CAST(0.6931471805599453 AS DOUBLE) * CAST(1048576.0 AS DOUBLE)
              ) AS INT128)
              ELSE CAST(0 AS INT128)
            END
          ) AS "added",
          SUM("n") AS "n"
        FROM (
          SELECT
            *, SUM("n") OVER (PARTITION BY "region", "dim", "target" ORDER BY "value" ASC NULLS LAST) AS "below",
            SUM("n") OVER (PARTITION BY "region", "dim", "target") AS "whole"
          FROM (
            SELECT
              "turn"."region" AS "region", "turn"."width" AS "width", CAST((("point"."key_0" & 31)) AS INT) AS "value",
              (("point"."key_0" & 15360) >> 10) AS "target", CAST(0 AS INT) AS "dim", SUM(CAST(1 AS BIGINT)) AS "n"
            FROM "__sqlanon_points_1" AS "point"
            JOIN ({turn("width_0", "low_0", "high_0")}) AS "turn" ON "point"."label" = "turn"."label"
            GROUP BY
              "turn"."region", "turn"."width", CAST((("point"."key_0" & 31)) AS INT), (("point"."key_0" & 15360) >> 10)
            UNION ALL
            SELECT
              "turn"."region" AS "region", "turn"."width" AS "width",
              CAST((("point"."key_0" & 32) >> 5) AS INT) AS "value", (("point"."key_0" & 15360) >> 10) AS "target",
              CAST(1 AS INT) AS "dim", SUM(CAST(1 AS BIGINT)) AS "n"
            FROM "__sqlanon_points_1" AS "point"
            JOIN ({turn("width_1", "low_1", "high_1")}) AS "turn" ON "point"."label" = "turn"."label"
            GROUP BY
              "turn"."region", "turn"."width", CAST((("point"."key_0" & 32) >> 5) AS INT),
              (("point"."key_0" & 15360) >> 10)
            UNION ALL
            SELECT
              "turn"."region" AS "region", "turn"."width" AS "width",
              CAST((("point"."key_0" & 960) >> 6) AS INT) AS "value", (("point"."key_0" & 15360) >> 10) AS "target",
              CAST(2 AS INT) AS "dim", SUM(CAST(1 AS BIGINT)) AS "n"
            FROM "__sqlanon_points_1" AS "point"
            JOIN ({turn("width_2", "low_2", "high_2")}) AS "turn" ON "point"."label" = "turn"."label"
            GROUP BY
              "turn"."region", "turn"."width", CAST((("point"."key_0" & 960) >> 6) AS INT),
              (("point"."key_0" & 15360) >> 10)
          ) AS "counted"
        ) AS "by_target"
        GROUP BY "region", "dim", "value"
      ) AS "by_value"
    ) AS "running"
    WHERE "lower" >= 3 AND ("rows" - "lower") >= 3
  ) AS "possible"
) AS "ranked"
WHERE "rank" = 1;
