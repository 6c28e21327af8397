-- Look for: the rows that no round publishes: of no round, or withheld afterwards; they count in the loss as
-- suppressed.

CREATE TEMPORARY TABLE "__sqlanon_suppressed_1" AS
SELECT "cell"."key_0", "cell"."n"
FROM "__sqlanon_cells_5" AS "cell"
UNION ALL
SELECT "cell"."key_0", "cell"."n"
FROM "__sqlanon_round_cells_1" AS "cell"
WHERE EXISTS({withheld-3});

WITH "withheld" AS (
  SELECT "tag" AS "index", ("tag" << 5) + "key_0" AS "class_id", CAST(SUM("n") AS BIGINT) AS "size"
  FROM (
    SELECT CAST(0 AS BIGINT) AS "tag", ("key_0" & 31) AS "key_0", "n"
    FROM "__sqlanon_suppressed_1" AS "cells"
  ) AS "node_row"
  GROUP BY "tag", ("tag" << 5) + "key_0"
)
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
