-- Look for: points take the numbers of their halves; points of regions that no cut divides are put aside.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_points_1" AS
SELECT
  CAST("attempt"."region" * 2 + CASE
    WHEN CAST((("point"."key_0" >> "attempt"."shift") & "attempt"."mask") AS INT) > "attempt"."median" THEN 1
    ELSE 0
  END AS INT) AS "label",
  "point"."key_0", "point"."n"
FROM "__sqlanon_points_1" AS "point"
JOIN "__sqlanon_cut_1" AS "attempt" ON "point"."label" = "attempt"."label";

INSERT INTO "__sqlanon_points_done_1"
SELECT
  CAST("point"."label" AS BIGINT) + $1 AS "region", CAST((("point"."key_0" & 31)) AS INT) AS "r_0",
  CAST((("point"."key_0" & 32) >> 5) AS INT) AS "r_1", CAST((("point"."key_0" & 960) >> 6) AS INT) AS "r_2",
  "point"."n" AS "n"
FROM "__sqlanon_points_1" AS "point"
WHERE NOT "point"."label" IN (SELECT "label" FROM "__sqlanon_cut_1" AS "attempts");

SELECT
  "region"."rows" AS "n", COALESCE("known"."least_0", 1) AS "low_0", COALESCE("known"."most_0", 0) AS "high_0",
  CASE WHEN "known"."with_null_0" THEN 1 ELSE 0 END AS "null_0", COALESCE("known"."least_1", 1) AS "low_1",
  COALESCE("known"."most_1", 0) AS "high_1", CASE WHEN "known"."with_null_1" THEN 1 ELSE 0 END AS "null_1",
  COALESCE("known"."least_2", 1) AS "low_2", COALESCE("known"."most_2", 0) AS "high_2",
  CASE WHEN "known"."with_null_2" THEN 1 ELSE 0 END AS "null_2"
FROM "__sqlanon_regions_done_1" AS "region"
JOIN ({known("__sqlanon_points_done_1")}) AS "known" ON "region"."region" = "known"."region";
