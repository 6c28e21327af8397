-- Look for: each row once, with a number and its class: all rows are one, since no other quasi-identifier stands beside the list.
-- Then what is refused by count alone: several NULLs in a list, lists of too many sets, and classes of too few lists.

CREATE TEMPORARY TABLE "__sqlanon_row_1" AS
SELECT ROW_NUMBER() OVER () AS "list_id", 1 AS "class", "source"."codes" AS "list", "source"."codes" AS "column_0"
FROM "memory"."main"."visits" AS "source";

SELECT COUNT(*)
FROM (
  SELECT "list_id"
  FROM (SELECT "list_id", UNNEST("list") AS "item" FROM "__sqlanon_row_1" AS "listed") AS "occurring"
  WHERE "item" IS NULL
  GROUP BY "list_id"
  HAVING COUNT(*) > 1
) AS "several";

SELECT "length", COUNT(*) AS "number", SUM("times") AS "counted"
FROM (
  SELECT "list_id", COUNT(*) AS "length", MAX("times") AS "times"
  FROM (
    SELECT DISTINCT "list_id", "times", UNNEST("list") AS "item"
    FROM (
      SELECT ROW_NUMBER() OVER () AS "list_id", "list", "times"
      FROM (SELECT "list" AS "list", 1 AS "times" FROM "__sqlanon_row_1") AS "listed"
    ) AS "numbered"
  ) AS "item"
  GROUP BY "list_id"
) AS "listed_length"
GROUP BY "length"
ORDER BY "length" DESC NULLS LAST;

SELECT
  COUNT(*) AS "classes", COALESCE(SUM(CASE WHEN "lists" > 0 THEN "lists" ELSE "rows" END), 0) AS "lists",
  COALESCE(MAX("lists"), 0) = 0 AS "empty"
FROM (
  SELECT "listed"."class", COUNT(*) AS "rows", COUNT("labelled"."list_id") AS "lists"
  FROM "__sqlanon_row_1" AS "listed"
  LEFT JOIN (SELECT DISTINCT "list_id" FROM "__sqlanon_labelled_1" AS "labelled") AS "labelled"
    ON "labelled"."list_id" = "listed"."list_id"
  GROUP BY "listed"."class"
) AS "counted"
WHERE "rows" < 2 OR ("lists" > 0 AND "lists" < 2);
