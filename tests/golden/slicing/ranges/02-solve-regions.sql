-- Look for: after the buckets, the points again: with the ranks of one column alone.

CREATE TEMPORARY TABLE "__sqlanon_regions_done_2" AS
SELECT
  CAST(0 AS BIGINT) AS "region", CAST(0 AS BIGINT) AS "rows", CAST(0 AS INT) AS "low_0", CAST(0 AS INT) AS "high_0",
  CAST(0 AS INT) AS "low_1", CAST(0 AS INT) AS "high_1"
WHERE FALSE;

CREATE TEMPORARY TABLE "__sqlanon_points_done_2" AS
SELECT
  CAST(0 AS BIGINT) AS "region", CAST((("point"."key_0" & 31)) AS INT) AS "r_0",
  CAST((("point"."key_0" & 960) >> 6) AS INT) AS "r_1", CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_2" AS "point"
WHERE FALSE;

INSERT INTO "__sqlanon_points_done_2"
SELECT
  CAST("point"."label" AS BIGINT) + $1 AS "region", CAST((("point"."key_0" & 31)) AS INT) AS "r_0",
  CAST((("point"."key_0" & 960) >> 6) AS INT) AS "r_1", CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_2" AS "point"
WHERE NOT "point"."label" IN (SELECT "label" FROM "__sqlanon_cut_2" AS "attempts");

INSERT INTO "__sqlanon_regions_done_2"
SELECT
  "region", CAST(SUM("n") AS BIGINT) AS "rows", MIN("r_0") AS "low_0", MAX("r_0") AS "high_0", MIN("r_1") AS "low_1",
  MAX("r_1") AS "high_1"
FROM "__sqlanon_points_done_2" AS "points"
WHERE "region" >= $1
GROUP BY "region";

CREATE TEMPORARY TABLE "__sqlanon_regions_done_3" AS
SELECT CAST(0 AS BIGINT) AS "region", CAST(0 AS BIGINT) AS "rows", CAST(0 AS INT) AS "low_0", CAST(0 AS INT) AS "high_0"
WHERE FALSE;

CREATE TEMPORARY TABLE "__sqlanon_points_done_3" AS
SELECT CAST(0 AS BIGINT) AS "region", CAST((("point"."key_0" & 32) >> 5) AS INT) AS "r_0", CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_3" AS "point"
WHERE FALSE;

INSERT INTO "__sqlanon_points_done_3"
SELECT
  CAST("point"."label" AS BIGINT) + $1 AS "region", CAST((("point"."key_0" & 32) >> 5) AS INT) AS "r_0",
  CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_3" AS "point"
WHERE NOT "point"."label" IN (SELECT "label" FROM "__sqlanon_cut_3" AS "attempts");

INSERT INTO "__sqlanon_regions_done_3"
SELECT "region", CAST(SUM("n") AS BIGINT) AS "rows", MIN("r_0") AS "low_0", MAX("r_0") AS "high_0"
FROM "__sqlanon_points_done_3" AS "points"
WHERE "region" >= $1
GROUP BY "region";
