-- Look for: for each query and label the part of its leaves that satisfy, by one join with the constants; certain if
-- all of them do; `others` has a bit for each query that does not ask the column.

CREATE TEMPORARY TABLE "__sqlanon_share_1" AS
WITH "whole" AS (
  SELECT
    "number",
    COUNT(*) AS "leaves",
    COUNT("weight") AS "known",
    SUM("weight") AS "total"
  FROM "__sqlanon_leaf_2" AS "leaf"
  GROUP BY
    "number"
), "held" AS (
  SELECT
    "query",
    "number",
    COUNT(*) AS "leaves",
    SUM("weight") AS "weight"
  FROM (
    SELECT
      "bounds"."query",
      "leaf"."number",
      "leaf"."weight"
    FROM "__sqlanon_leaf_2" AS "leaf"
    JOIN (
      SELECT DISTINCT
        "query",
        TRY_CAST("low" AS DATE) AS "low"
      FROM (
        SELECT
          "batch_query"."query",
          "constant"."low",
          "constant"."high"
        FROM "__sqlanon_constant_1" AS "constant"
        JOIN "__sqlanon_among_1" AS "batch_query"
          ON "constant"."query_id" = "batch_query"."query_id"
        WHERE
          "constant"."column_index" = 0
      ) AS "compared"
      WHERE
        "high" IS NULL
    ) AS "bounds"
      ON CAST("leaf"."value" AS DATE) = "bounds"."low"
  ) AS "satisfying"
  GROUP BY
    "query",
    "number"
)
SELECT
  "held"."query",
  "held"."number",
  CASE
    WHEN "held"."leaves" = "whole"."leaves"
    THEN 1.0
    WHEN "whole"."known" = "whole"."leaves"
    THEN LEAST(1.0, "held"."weight" / NULLIF("whole"."total", 0))
  END AS "p",
  "held"."leaves" = "whole"."leaves" AS "certain",
  "held"."weight" AS "satisfying",
  "whole"."total"
FROM "held"
JOIN "whole"
  ON "held"."number" = "whole"."number";

CREATE TEMPORARY TABLE "__sqlanon_share_2" AS
WITH "whole" AS (
  SELECT
    "number",
    COUNT(*) AS "leaves",
    COUNT("weight") AS "known",
    SUM("weight") AS "total"
  FROM "__sqlanon_leaf_4" AS "leaf"
  GROUP BY
    "number"
), "held" AS (
  SELECT
    "query",
    "number",
    COUNT(*) AS "leaves",
    SUM("weight") AS "weight"
  FROM (
    SELECT
      "bounds"."query",
      "leaf"."number",
      "leaf"."weight"
    FROM "__sqlanon_leaf_4" AS "leaf"
    JOIN (
      SELECT DISTINCT
        "query",
        TRY_CAST("low" AS TEXT) AS "low"
      FROM (
        SELECT
          "batch_query"."query",
          "constant"."low",
          "constant"."high"
        FROM "__sqlanon_constant_1" AS "constant"
        JOIN "__sqlanon_among_1" AS "batch_query"
          ON "constant"."query_id" = "batch_query"."query_id"
        WHERE
          "constant"."column_index" = 1
      ) AS "compared"
      WHERE
        "high" IS NULL
    ) AS "bounds"
      ON CAST("leaf"."value" AS TEXT) = "bounds"."low"
  ) AS "satisfying"
  GROUP BY
    "query",
    "number"
)
SELECT
  "held"."query",
  "held"."number",
  CASE
    WHEN "held"."leaves" = "whole"."leaves"
    THEN 1.0
    WHEN "whole"."known" = "whole"."leaves"
    THEN LEAST(1.0, "held"."weight" / NULLIF("whole"."total", 0))
  END AS "p",
  "held"."leaves" = "whole"."leaves" AS "certain",
  "held"."weight" AS "satisfying",
  "whole"."total"
FROM "held"
JOIN "whole"
  ON "held"."number" = "whole"."number";

CREATE TEMPORARY TABLE "__sqlanon_others_1" AS
SELECT
  UNNEST(CAST(? AS INT[])) AS "column_index",
  UNNEST(CAST(? AS INT[])) AS "word",
  UNNEST(CAST(? AS UBIGINT[])) AS "others";
