-- Look for: for each query and label the part of its leaves that satisfy, by one join with the constants; certain if
-- all of them do; a share that is unknown is read as NaN.

CREATE TEMPORARY TABLE "__sqlanon_share_1" AS
WITH "whole" AS ({whole("__sqlanon_leaf_2")}), "held" AS (
  SELECT "query", "number", COUNT(*) AS "leaves", SUM("weight") AS "weight"
  FROM (
    SELECT "bounds"."query", "leaf"."number", "leaf"."weight"
    FROM "__sqlanon_leaf_2" AS "leaf"
    JOIN ({bounds("__sqlanon_among_1")}) AS "bounds" ON CAST("leaf"."value" AS DATE) = "bounds"."low"
  ) AS "satisfying"
  GROUP BY "query", "number"
)
SELECT
  "held"."query", "held"."number",
  CASE
    WHEN "held"."leaves" = "whole"."leaves" THEN 1.0
    WHEN "whole"."known" = "whole"."leaves" THEN LEAST(1.0, "held"."weight" / NULLIF("whole"."total", 0))
  END AS "p",
  "held"."leaves" = "whole"."leaves" AS "certain", "held"."weight" AS "satisfying", "whole"."total"
FROM "held"
JOIN "whole" ON "held"."number" = "whole"."number";

CREATE TEMPORARY TABLE "__sqlanon_share_2" AS
WITH "whole" AS ({whole("__sqlanon_leaf_4")}), "held" AS (
  SELECT "query", "number", COUNT(*) AS "leaves", SUM("weight") AS "weight"
  FROM (
    SELECT "bounds"."query", "leaf"."number", "leaf"."weight"
    FROM "__sqlanon_leaf_4" AS "leaf"
    JOIN ({bounds-2("__sqlanon_among_1", 1)}) AS "bounds" ON CAST("leaf"."value" AS TEXT) = "bounds"."low"
  ) AS "satisfying"
  GROUP BY "query", "number"
)
SELECT
  "held"."query", "held"."number",
  CASE
    WHEN "held"."leaves" = "whole"."leaves" THEN 1.0
    WHEN "whole"."known" = "whole"."leaves" THEN LEAST(1.0, "held"."weight" / NULLIF("whole"."total", 0))
  END AS "p",
  "held"."leaves" = "whole"."leaves" AS "certain", "held"."weight" AS "satisfying", "whole"."total"
FROM "held"
JOIN "whole" ON "held"."number" = "whole"."number";

SELECT "query", "number", "certain", COALESCE("p", CAST('NaN' AS DOUBLE)) AS "p" FROM "__sqlanon_share_1" AS "share";
