-- Look for: each row once with its number; column_1 is the list of sensitive items. Each set is counted with each of these, and once more: `times`.

CREATE TEMPORARY TABLE "__sqlanon_row_1" AS
SELECT
  ROW_NUMBER() OVER () AS "list_id", 1 AS "class", "source"."codes" AS "list", "source"."codes" AS "column_0",
  "source"."diagnoses" AS "column_1"
FROM "memory"."main"."visits" AS "source";

SELECT "length", COUNT(*) AS "number", SUM("times") AS "counted"
FROM (
  SELECT "list_id", COUNT(*) AS "length", MAX("times") AS "times"
  FROM (
    SELECT DISTINCT "list_id", "times", UNNEST("list") AS "item"
    FROM (
      SELECT ROW_NUMBER() OVER () AS "list_id", "list", "times"
      FROM (SELECT "list" AS "list", 1 + COALESCE(LENGTH("column_1"), 0) AS "times" FROM "__sqlanon_row_1") AS "listed"
    ) AS "numbered"
  ) AS "item"
  GROUP BY "list_id"
) AS "listed_length"
GROUP BY "length"
ORDER BY "length" DESC NULLS LAST;
