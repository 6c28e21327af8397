-- Look for: the cells of each round without those withheld, by the class that is shown; the second kind of query is
-- the loss, of each round at its own levels.

CREATE TEMPORARY TABLE "__sqlanon_published_1" AS
SELECT "cell"."key_0", "cell"."n"
FROM "__sqlanon_round_cells_1" AS "cell"
WHERE "cell"."round" = 1 AND NOT EXISTS({withheld-3});

CREATE TEMPORARY TABLE "__sqlanon_published_2" AS
SELECT "cell"."key_0", "cell"."n"
FROM "__sqlanon_round_cells_1" AS "cell"
WHERE "cell"."round" = 2 AND NOT EXISTS({withheld-3});

SELECT COALESCE(SUM("n"), 0) FROM "__sqlanon_published_1" AS "cells";

WITH "withheld" AS ({withheld-2(31, "__sqlanon_published_1")})
SELECT
  "node"."index",
  CAST(COALESCE(SUM(CASE WHEN "node"."attribute" = -1 THEN "withheld"."size" END), 0) AS INT128) AS "withheld",
  CAST(COALESCE(
    SUM(CASE WHEN "node"."attribute" = 0 THEN "withheld"."size" * "leaves"."others" END), 0
  ) AS INT128) AS "sum_0",
  CAST(COALESCE(
    SUM(CASE WHEN "node"."attribute" = 1 THEN "withheld"."size" * "leaves"."others" END), 0
  ) AS INT128) AS "sum_1"
FROM ({node-2}) AS "node"
LEFT JOIN "withheld" ON "withheld"."index" = "node"."index"
LEFT JOIN ({leaves-2}) AS "leaves"
  ON "leaves"."attribute" = "node"."attribute" AND "leaves"."level" = "node"."level"
  AND ((("withheld"."class_id") & "node"."mask_0") = "leaves"."part_0")
GROUP BY "node"."index";

WITH "withheld" AS ({withheld-2(17, "__sqlanon_published_2")})
SELECT
  "node"."index",
  CAST(COALESCE(SUM(CASE WHEN "node"."attribute" = -1 THEN "withheld"."size" END), 0) AS INT128) AS "withheld",
  CAST(COALESCE(
    SUM(CASE WHEN "node"."attribute" = 0 THEN "withheld"."size" * "leaves"."others" END), 0
  ) AS INT128) AS "sum_0",
  CAST(COALESCE(
    SUM(CASE WHEN "node"."attribute" = 1 THEN "withheld"."size" * "leaves"."others" END), 0
  ) AS INT128) AS "sum_1"
FROM ({node-2}) AS "node"
LEFT JOIN "withheld" ON "withheld"."index" = "node"."index"
LEFT JOIN ({leaves-2}) AS "leaves"
  ON "leaves"."attribute" = "node"."attribute" AND "leaves"."level" = "node"."level"
  AND ((("withheld"."class_id") & "node"."mask_0") = "leaves"."part_0")
GROUP BY "node"."index";
