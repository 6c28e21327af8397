-- Look for: a draw for each point, made once; a region holds a list of labels, its bounds, and in `tried` a bit for
-- each dimension in which a cut has failed; regions and points that are not attempted any more are moved to those that
-- are done.

CREATE TEMPORARY TABLE "__sqlanon_points_1" AS
SELECT CAST(0 AS INT) AS "label", "key_0", "row", udf(0) AS "draw"
FROM (SELECT *, UNNEST(RANGE(0, "n")) AS "copy" FROM "__sqlanon_cells_1") AS "repeated";

CREATE TEMPORARY TABLE "__sqlanon_regions_done_1" AS
SELECT
  CAST(0 AS BIGINT) AS "region", CAST(0 AS BIGINT) AS "rows", CAST(0 AS INT) AS "low_0", CAST(0 AS INT) AS "high_0",
  CAST(0 AS INT) AS "low_1", CAST(0 AS INT) AS "high_1", CAST(0 AS INT) AS "low_2", CAST(0 AS INT) AS "high_2"
WHERE FALSE;

INSERT INTO "__sqlanon_regions_done_1" DEFAULT VALUES;
DELETE FROM "__sqlanon_regions_done_1";

CREATE TEMPORARY TABLE "__sqlanon_points_done_1" AS
SELECT
  CAST(0 AS BIGINT) AS "region", CAST((("point"."key_0" & 31)) AS INT) AS "r_0",
  CAST((("point"."key_0" & 32) >> 5) AS INT) AS "r_1", CAST((("point"."key_0" & 960) >> 6) AS INT) AS "r_2",
  CAST(1 AS BIGINT) AS "n", "point"."row"
FROM "__sqlanon_points_1" AS "point"
WHERE FALSE;

INSERT INTO "__sqlanon_points_done_1" DEFAULT VALUES;
DELETE FROM "__sqlanon_points_done_1";

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_regions_1" AS
SELECT
  "region", "labels", "rows", "tried", "low_0", "high_0", "low_1", "high_1", "low_2", "high_2",
  CAST(CASE WHEN "width_0" = "widest" THEN 0 WHEN "width_1" = "widest" THEN 1 WHEN "width_2" = "widest" THEN 2
  END AS INT) AS "dim"
FROM (
  SELECT *, GREATEST("width_0", "width_1", "width_2") AS "widest"
  FROM (
    SELECT
      "region".*,
      CASE
        WHEN "region"."rows" >= 6 AND "region"."high_0" > "region"."low_0" AND ("region"."tried" & 1) = 0
        THEN CAST(1.0 AS DOUBLE) * (("last_0"."position" - "first_0"."position") / CAST(6828.0 AS DOUBLE))
      END AS "width_0",
      CASE
        WHEN "region"."rows" >= 6 AND "region"."high_1" > "region"."low_1" AND ("region"."tried" & 2) = 0
        THEN CAST(1.0 AS DOUBLE) * (CAST((("region"."high_1" - "region"."low_1") + 1) AS DOUBLE) / CAST(2.0 AS DOUBLE))
      END AS "width_1",
      CASE
        WHEN "region"."rows" >= 6 AND "region"."high_2" > "region"."low_2" AND ("region"."tried" & 4) = 0
        THEN CAST(1.0 AS DOUBLE) * (CAST((("region"."high_2" - "region"."low_2") + 1) AS DOUBLE) / CAST(14.0 AS DOUBLE))
      END AS "width_2"
    FROM (
      SELECT
        CAST(0 AS BIGINT) AS "region", [CAST(0 AS INT)] AS "labels", COUNT(*) AS "rows", CAST(0 AS BIGINT) AS "tried",
        CAST((MIN("key_0" & 31)) AS INT) AS "low_0", CAST((MAX("key_0" & 31)) AS INT) AS "high_0",
        CAST((MIN("key_0" & 32) >> 5) AS INT) AS "low_1", CAST((MAX("key_0" & 32) >> 5) AS INT) AS "high_1",
        CAST((MIN("key_0" & 960) >> 6) AS INT) AS "low_2", CAST((MAX("key_0" & 960) >> 6) AS INT) AS "high_2"
      FROM "__sqlanon_points_1" AS "points"
      HAVING COUNT(*) > 0
    ) AS "region"
    JOIN "__sqlanon_ranked_1" AS "first_0" ON "first_0"."rank_0" = "region"."low_0"
    JOIN "__sqlanon_ranked_1" AS "last_0" ON "last_0"."rank_0" = "region"."high_0"
  ) AS "region"
) AS "most";

SELECT COUNT(*), COUNT("dim") FROM "__sqlanon_regions_1";

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_points_1" AS
SELECT
  CAST(("attempt"."region" * 3) + CASE
    WHEN ROW_NUMBER() OVER (
      PARTITION BY "attempt"."region"
      ORDER BY CAST((("point"."key_0" >> "attempt"."shift") & "attempt"."mask") AS INT) ASC NULLS LAST, CAST(((
        "point"."key_0" & 31
      )) AS INT) ASC NULLS LAST, CAST((("point"."key_0" & 32) >> 5) AS INT) ASC NULLS LAST, CAST((
        ("point"."key_0" & 960) >> 6
      ) AS INT) ASC NULLS LAST, "point"."draw" ASC NULLS LAST
    ) <= COUNT(*) OVER (PARTITION BY "attempt"."region") // 2
    THEN 0
    ELSE 2
  END AS INT) AS "label",
  "point"."key_0", "point"."row", "point"."draw"
FROM "__sqlanon_points_1" AS "point"
JOIN ({attempt-2}) AS "attempt" ON "point"."label" = "attempt"."label";

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_regions_1" AS
WITH "half" AS (
  SELECT
    CAST("label" // 3 AS BIGINT) AS "region",
    CAST(CASE WHEN "label" % 3 < "first_upper" THEN 0 ELSE 1 END AS BIGINT) AS "side", ARRAY_AGG("label") AS "labels",
    CAST(SUM("rows") AS BIGINT) AS "rows", MIN("low_0") AS "low_0", MAX("high_0") AS "high_0", MIN("low_1") AS "low_1",
    MAX("high_1") AS "high_1", MIN("low_2") AS "low_2", MAX("high_2") AS "high_2"
  FROM (
    SELECT "part".*, "nearest"."first_upper"
    FROM "__sqlanon_parts_1" AS "part"
    JOIN (
      SELECT "region", CASE WHEN "below" = 0 OR "above" > "below" THEN 2 ELSE 1 END AS "first_upper"
      FROM (
        SELECT
          CAST("label" // 3 AS BIGINT) AS "region",
          CAST(SUM(CASE WHEN "label" % 3 = 0 THEN "rows" ELSE 0 END) AS BIGINT) AS "below",
          CAST(SUM(CASE WHEN "label" % 3 = 2 THEN "rows" ELSE 0 END) AS BIGINT) AS "above"
        FROM "__sqlanon_parts_1" AS "parts"
        GROUP BY CAST("label" // 3 AS BIGINT)
      ) AS "sums"
    ) AS "nearest" ON CAST("part"."label" // 3 AS BIGINT) = "nearest"."region"
  ) AS "part"
  GROUP BY CAST("label" // 3 AS BIGINT), CAST(CASE WHEN "label" % 3 < "first_upper" THEN 0 ELSE 1 END AS BIGINT)
), "equivalence_class" AS (
  SELECT "region" * 2 + "side" AS "class_id", "rows" AS "size", "rows" AS "entities"
  FROM "half" AS "children"
), "failing" AS ({failing})
SELECT
  "region", "labels", "rows", "tried", "low_0", "high_0", "low_1", "high_1", "low_2", "high_2",
  CAST(CASE WHEN "width_0" = "widest" THEN 0 WHEN "width_1" = "widest" THEN 1 WHEN "width_2" = "widest" THEN 2
  END AS INT) AS "dim"
FROM (
  SELECT *, GREATEST("width_0", "width_1", "width_2") AS "widest"
  FROM (
    SELECT
      "region".*,
      CASE
        WHEN "region"."rows" >= 6 AND "region"."high_0" > "region"."low_0" AND ("region"."tried" & 1) = 0
        THEN CAST(1.0 AS DOUBLE) * (("last_0"."position" - "first_0"."position") / CAST(6828.0 AS DOUBLE))
      END AS "width_0",
      CASE
        WHEN "region"."rows" >= 6 AND "region"."high_1" > "region"."low_1" AND ("region"."tried" & 2) = 0
        THEN CAST(1.0 AS DOUBLE) * (CAST((("region"."high_1" - "region"."low_1") + 1) AS DOUBLE) / CAST(2.0 AS DOUBLE))
      END AS "width_1",
      CASE
        WHEN "region"."rows" >= 6 AND "region"."high_2" > "region"."low_2" AND ("region"."tried" & 4) = 0
        THEN CAST(1.0 AS DOUBLE) * (CAST((("region"."high_2" - "region"."low_2") + 1) AS DOUBLE) / CAST(14.0 AS DOUBLE))
      END AS "width_2"
    FROM (SELECT CAST(ROW_NUMBER() OVER () - 1 AS BIGINT) AS "region", * FROM ({both}) AS "both") AS "region"
    JOIN "__sqlanon_ranked_1" AS "first_0" ON "first_0"."rank_0" = "region"."low_0"
    JOIN "__sqlanon_ranked_1" AS "last_0" ON "last_0"."rank_0" = "region"."high_0"
  ) AS "region"
) AS "most";

INSERT INTO "__sqlanon_regions_done_1"
SELECT "region" + $1 AS "region", "rows", "low_0", "high_0", "low_1", "high_1", "low_2", "high_2"
FROM "__sqlanon_regions_1" AS "regions"
WHERE "dim" IS NULL;

INSERT INTO "__sqlanon_points_done_1"
SELECT
  "done"."region" + $1 AS "region", CAST((("point"."key_0" & 31)) AS INT) AS "r_0",
  CAST((("point"."key_0" & 32) >> 5) AS INT) AS "r_1", CAST((("point"."key_0" & 960) >> 6) AS INT) AS "r_2",
  CAST(1 AS BIGINT) AS "n", "point"."row"
FROM "__sqlanon_points_1" AS "point"
JOIN ({done}) AS "done" ON "point"."label" = "done"."label";
