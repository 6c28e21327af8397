-- Look for: each column's values numbered in value order; a query's values as runs of numbers that follow each other
-- (number minus row number is the same within one).

CREATE TEMPORARY TABLE "__sqlanon_label_5" AS
SELECT CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS INT) AS "number", "value"
FROM (SELECT DISTINCT "dob" AS "value" FROM "memory"."main"."patients") AS "different";

CREATE TEMPORARY TABLE "__sqlanon_label_6" AS
SELECT CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS INT) AS "number", "value"
FROM (SELECT DISTINCT "zip" AS "value" FROM "memory"."main"."patients") AS "different";

CREATE TEMPORARY TABLE "__sqlanon_label_7" AS
SELECT CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS INT) AS "number", "value"
FROM (SELECT DISTINCT "disease" AS "value" FROM "memory"."main"."patients") AS "different";

CREATE TEMPORARY TABLE "__sqlanon_label_8" AS
SELECT CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS INT) AS "number", "value"
FROM (SELECT DISTINCT "sex" AS "value" FROM "memory"."main"."patients") AS "different";

SELECT COUNT(*) FROM "__sqlanon_label_5" AS "label";

WITH "ranked" AS (
  SELECT
    "query", "number", "number" - ROW_NUMBER() OVER (PARTITION BY "query" ORDER BY "number" ASC NULLS LAST) AS "run"
  FROM (
    SELECT "bounds"."query", "leaf"."number", "leaf"."weight"
    FROM (SELECT "number", "value", 1 AS "weight" FROM "__sqlanon_label_5" AS "label") AS "leaf"
    JOIN ({bounds("__sqlanon_among_2")}) AS "bounds" ON CAST("leaf"."value" AS DATE) = "bounds"."low"
  ) AS "satisfied"
)
SELECT "query", MIN("number") AS "low", MAX("number") AS "high"
FROM "ranked"
GROUP BY "query", "run";

WITH "ranked" AS ({ranked-2("__sqlanon_label_6", 1)})
SELECT "query", MIN("number") AS "low", MAX("number") AS "high"
FROM "ranked"
GROUP BY "query", "run";

WITH "ranked" AS ({ranked-2("__sqlanon_label_7", 2)})
SELECT "query", MIN("number") AS "low", MAX("number") AS "high"
FROM "ranked"
GROUP BY "query", "run";

WITH "ranked" AS ({ranked-2("__sqlanon_label_8", 3)})
SELECT "query", MIN("number") AS "low", MAX("number") AS "high"
FROM "ranked"
GROUP BY "query", "run";
