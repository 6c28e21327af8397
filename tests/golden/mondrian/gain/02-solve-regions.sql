-- Look for: the points of regions that are done, as before, without the column "row" of relaxed cuts.

CREATE TEMPORARY TABLE "__sqlanon_points_done_1" AS
SELECT
  CAST(0 AS BIGINT) AS "region", CAST((("point"."key_0" & 31)) AS INT) AS "r_0",
  CAST((("point"."key_0" & 32) >> 5) AS INT) AS "r_1", CAST((("point"."key_0" & 960) >> 6) AS INT) AS "r_2",
  CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_1" AS "point"
WHERE FALSE;

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_regions_1" AS
SELECT
  CAST(0 AS BIGINT) AS "region", [CAST(0 AS INT)] AS "labels", COUNT(*) AS "rows", CAST(0 AS BIGINT) AS "tried",
  CAST((MIN("key_0" & 31)) AS INT) AS "low_0", CAST((MAX("key_0" & 31)) AS INT) AS "high_0",
  CAST((MIN("key_0" & 32) >> 5) AS INT) AS "low_1", CAST((MAX("key_0" & 32) >> 5) AS INT) AS "high_1",
  CAST((MIN("key_0" & 960) >> 6) AS INT) AS "low_2", CAST((MAX("key_0" & 960) >> 6) AS INT) AS "high_2"
FROM "__sqlanon_points_1" AS "points"
HAVING COUNT(*) > 0;

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_regions_1" AS
SELECT
  "region"."region", "region"."labels", "region"."rows", "region"."tried", "region"."low_0", "region"."high_0",
  "region"."low_1", "region"."high_1", "region"."low_2", "region"."high_2", "ranked"."dim", "ranked"."median"
FROM "__sqlanon_regions_1" AS "region"
LEFT JOIN (
  SELECT
    *,
    ROW_NUMBER() OVER (
      PARTITION BY "region"
      ORDER BY "gain" DESC NULLS LAST, "width" DESC NULLS LAST, "dim" ASC NULLS LAST
    ) AS "rank"
  FROM "__sqlanon_gained_1" AS "gained"
) AS "ranked" ON "region"."region" = "ranked"."region" AND "ranked"."rank" = 1;

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_points_1" AS
SELECT
  CAST(("attempt"."region" * 3) + (
    SIGN(CAST((("point"."key_0" >> "attempt"."shift") & "attempt"."mask") AS INT) - "middle"."median") + 1
  ) AS INT) AS "label",
  "point"."key_0"
FROM "__sqlanon_points_1" AS "point"
JOIN ({attempt-2}) AS "attempt" ON "point"."label" = "attempt"."label"
JOIN "__sqlanon_regions_1" AS "middle" ON "attempt"."region" = "middle"."region";

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_regions_1" AS
WITH "half" AS (
  SELECT
    CAST("label" // 3 AS BIGINT) AS "region",
    CAST(CASE WHEN "label" % 3 < "first_upper" THEN 0 ELSE 1 END AS BIGINT) AS "side", ARRAY_AGG("label") AS "labels",
    CAST(SUM("rows") AS BIGINT) AS "rows", MIN("low_0") AS "low_0", MAX("high_0") AS "high_0", MIN("low_1") AS "low_1",
    MAX("high_1") AS "high_1", MIN("low_2") AS "low_2", MAX("high_2") AS "high_2"
  FROM (SELECT *, 2 AS "first_upper" FROM "__sqlanon_parts_1" AS "parts") AS "part"
  GROUP BY CAST("label" // 3 AS BIGINT), CAST(CASE WHEN "label" % 3 < "first_upper" THEN 0 ELSE 1 END AS BIGINT)
), "equivalence_class" AS (
  SELECT "region" * 2 + "side" AS "class_id", "rows" AS "size", "rows" AS "entities"
  FROM "half" AS "children"
), "failing" AS ({failing})
SELECT CAST(ROW_NUMBER() OVER () - 1 AS BIGINT) AS "region", *
FROM ({both}) AS "both";

INSERT INTO "__sqlanon_points_done_1"
SELECT
  "done"."region" + $1 AS "region", CAST((("point"."key_0" & 31)) AS INT) AS "r_0",
  CAST((("point"."key_0" & 32) >> 5) AS INT) AS "r_1", CAST((("point"."key_0" & 960) >> 6) AS INT) AS "r_2",
  CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_1" AS "point"
JOIN ({done}) AS "done" ON "point"."label" = "done"."label";
