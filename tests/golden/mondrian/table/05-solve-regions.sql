-- Look for: a point a row; the ranks of all points are read, and numbers of regions come back, by the place of the
-- point; the last query is the loss: spans weighted by rows, and nothing about NULL, which does not occur.

CREATE TEMPORARY TABLE "__sqlanon_points_1" AS
SELECT CAST(0 AS INT) AS "label", "key_0"
FROM (SELECT *, UNNEST(RANGE(0, "n")) AS "copy" FROM "__sqlanon_cells_1") AS "repeated";

SELECT
  "rowid", "label", CAST((("key_0" & 31)) AS INT) AS "r_0", CAST((("key_0" & 32) >> 5) AS INT) AS "r_1",
  CAST((("key_0" & 960) >> 6) AS INT) AS "r_2"
FROM "__sqlanon_points_1";

CREATE TEMPORARY TABLE "__sqlanon_regions_done_1" AS
SELECT "region", "rows", "low_0", "high_0", "low_1", "high_1", "low_2", "high_2"
FROM "__sqlanon_numbered_1";

CREATE TEMPORARY TABLE "__sqlanon_points_done_1" AS
SELECT
  "placed"."region", CAST((("point"."key_0" & 31)) AS INT) AS "r_0",
  CAST((("point"."key_0" & 32) >> 5) AS INT) AS "r_1", CAST((("point"."key_0" & 960) >> 6) AS INT) AS "r_2",
  CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_1" AS "point"
POSITIONAL JOIN "__sqlanon_placed_1" AS "placed";

SELECT COUNT(*), COALESCE(MIN("rows"), 0), COALESCE(MAX("rows"), 0) FROM "__sqlanon_regions_done_1";

SELECT
  CAST(SUM("region"."rows") AS INT128),
  CAST(COALESCE(SUM("region"."rows" * COALESCE("known"."most_0" - "known"."least_0", 0)), 0) AS INT128),
  CAST(COALESCE(SUM("region"."rows" * COALESCE("known"."most_1" - "known"."least_1", 0)), 0) AS INT128),
  CAST(COALESCE(SUM("region"."rows" * COALESCE("known"."most_2" - "known"."least_2", 0)), 0) AS INT128)
FROM "__sqlanon_regions_done_1" AS "region"
JOIN ({known("__sqlanon_regions_done_1")}) AS "known" ON "region"."region" = "known"."region";
