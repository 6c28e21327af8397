-- Look for: for each region and dimension the cut with most gain; n log2 n as whole numbers of 2^-20, so that a sum
-- does not depend on its order; cuts with fewer than k rows on a side are left out before.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_gained_1" AS
WITH "by_target" AS (
  SELECT *, "whole" - "below" AS "above", "below" - "n" AS "before", "whole" - "below" + "n" AS "after"
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
      GROUP BY "turn"."region", "turn"."width", CAST((("point"."key_0" & 31)) AS INT), (("point"."key_0" & 15360) >> 10)
      UNION ALL
      SELECT
        "turn"."region" AS "region", "turn"."width" AS "width", CAST((("point"."key_0" & 32) >> 5) AS INT) AS "value",
        (("point"."key_0" & 15360) >> 10) AS "target", CAST(1 AS INT) AS "dim", SUM(CAST(1 AS BIGINT)) AS "n"
      FROM "__sqlanon_points_1" AS "point"
      JOIN ({turn("width_1", "low_1", "high_1")}) AS "turn" ON "point"."label" = "turn"."label"
      GROUP BY
        "turn"."region", "turn"."width", CAST((("point"."key_0" & 32) >> 5) AS INT), (("point"."key_0" & 15360) >> 10)
      UNION ALL
      SELECT
        "turn"."region" AS "region", "turn"."width" AS "width", CAST((("point"."key_0" & 960) >> 6) AS INT) AS "value",
        (("point"."key_0" & 15360) >> 10) AS "target", CAST(2 AS INT) AS "dim", SUM(CAST(1 AS BIGINT)) AS "n"
      FROM "__sqlanon_points_1" AS "point"
      JOIN ({turn("width_2", "low_2", "high_2")}) AS "turn" ON "point"."label" = "turn"."label"
      GROUP BY
        "turn"."region", "turn"."width", CAST((("point"."key_0" & 960) >> 6) AS INT), (("point"."key_0" & 15360) >> 10)
    ) AS "counted"
  ) AS "counted"
), "by_value" AS (
  SELECT
    "region", "dim", "value", MAX("width") AS "width",
    SUM(
      CASE
        WHEN ("below") > 0
        THEN CAST(ROUND(
          CAST("below" AS DOUBLE) * (
            LN(CAST("below" AS DOUBLE)) / CAST(0.6931471805599453 AS DOUBLE)
          ) * CAST(1048576.0 AS DOUBLE)
        ) AS INT128)
        ELSE CAST(0 AS INT128)
      END - CASE
        WHEN ("before") > 0
        THEN CAST(ROUND(
          CAST("before" AS DOUBLE) * (
            LN(CAST("before" AS DOUBLE)) / CAST(0.6931471805599453 AS DOUBLE)
          ) * CAST(1048576.0 AS DOUBLE)
        ) AS INT128)
        ELSE CAST(0 AS INT128)
      END + CASE
        WHEN ("above") > 0
        THEN CAST(ROUND(
          CAST("above" AS DOUBLE) * (
            LN(CAST("above" AS DOUBLE)) / CAST(0.6931471805599453 AS DOUBLE)
          ) * CAST(1048576.0 AS DOUBLE)
        ) AS INT128)
        ELSE CAST(0 AS INT128)
      END - CASE
        WHEN ("after") > 0
        THEN CAST(ROUND(
          CAST("after" AS DOUBLE) * (
            LN(CAST("after" AS DOUBLE)) / CAST(0.6931471805599453 AS DOUBLE)
          ) * CAST(1048576.0 AS DOUBLE)
        ) AS INT128)
        ELSE CAST(0 AS INT128)
      END
    ) AS "added",
    SUM("n") AS "n"
  FROM "by_target"
  GROUP BY "region", "dim", "value"
), "running" AS (
  SELECT "region", "dim", "value", "width", "lower", "rows" - "lower" AS "upper", "information"
  FROM (
    SELECT
      "region", "dim", "value", "width",
      SUM("added") OVER (PARTITION BY "region", "dim" ORDER BY "value" ASC NULLS LAST) AS "information",
      SUM("n") OVER (PARTITION BY "region", "dim" ORDER BY "value" ASC NULLS LAST) AS "lower",
      SUM("n") OVER (PARTITION BY "region", "dim") AS "rows"
    FROM "by_value"
  ) AS "summed"
), "ranked" AS (
  SELECT
    *,
    ROW_NUMBER() OVER (
      PARTITION BY "region", "dim"
      ORDER BY "gain" DESC NULLS LAST, ABS("upper" - "lower") ASC NULLS LAST, "lower" ASC NULLS LAST
    ) AS "rank"
  FROM (
    SELECT
      *,
      CAST("information" - CASE
        WHEN ("lower") > 0
        THEN CAST(ROUND(
          CAST("lower" AS DOUBLE) * (
            LN(CAST("lower" AS DOUBLE)) / CAST(0.6931471805599453 AS DOUBLE)
          ) * CAST(1048576.0 AS DOUBLE)
        ) AS INT128)
        ELSE CAST(0 AS INT128)
      END - CASE
        WHEN ("upper") > 0
        THEN CAST(ROUND(
          CAST("upper" AS DOUBLE) * (
            LN(CAST("upper" AS DOUBLE)) / CAST(0.6931471805599453 AS DOUBLE)
          ) * CAST(1048576.0 AS DOUBLE)
        ) AS INT128)
        ELSE CAST(0 AS INT128)
      END AS INT128) AS "gain"
    FROM "running"
    WHERE "lower" >= 3 AND "upper" >= 3
  ) AS "possible"
)
SELECT "region", "dim", "value" AS "median", "gain", "width"
FROM "ranked"
WHERE "rank" = 1;
