-- Look for: a point a row; a region is done once no cut stands in it, and its bounds are those of its own points; the
-- last query is the loss: width over span, weighted by rows, one division at the end.

CREATE TEMPORARY TABLE "__sqlanon_points_1" AS
SELECT CAST(0 AS INT) AS "label", "key_0"
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
  CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_1" AS "point"
WHERE FALSE;

INSERT INTO "__sqlanon_points_done_1" DEFAULT VALUES;
DELETE FROM "__sqlanon_points_done_1";

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_points_1" AS
SELECT
  CAST("attempt"."region" * 2 + CASE
    WHEN CAST((("point"."key_0" >> "attempt"."shift") & "attempt"."mask") AS INT) > "attempt"."median" THEN 1
    ELSE 0
  END AS INT) AS "label",
  "point"."key_0"
FROM "__sqlanon_points_1" AS "point"
JOIN "__sqlanon_cut_1" AS "attempt" ON "point"."label" = "attempt"."label";

INSERT INTO "__sqlanon_points_done_1"
SELECT
  CAST("point"."label" AS BIGINT) + $1 AS "region", CAST((("point"."key_0" & 31)) AS INT) AS "r_0",
  CAST((("point"."key_0" & 32) >> 5) AS INT) AS "r_1", CAST((("point"."key_0" & 960) >> 6) AS INT) AS "r_2",
  CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_1" AS "point"
WHERE NOT "point"."label" IN (SELECT "label" FROM "__sqlanon_cut_1" AS "attempts");

INSERT INTO "__sqlanon_regions_done_1"
SELECT
  "region", CAST(SUM("n") AS BIGINT) AS "rows", MIN("r_0") AS "low_0", MAX("r_0") AS "high_0", MIN("r_1") AS "low_1",
  MAX("r_1") AS "high_1", MIN("r_2") AS "low_2", MAX("r_2") AS "high_2"
FROM "__sqlanon_points_done_1" AS "points"
WHERE "region" >= $1
GROUP BY "region";

SELECT COUNT(*), COALESCE(MIN("rows"), 0), COALESCE(MAX("rows"), 0) FROM "__sqlanon_regions_done_1";
