-- Look for: each sensitive item of a list once, and 0 for every list, so that lists without any are counted, too.

CREATE TEMPORARY TABLE "__sqlanon_sensitive_1" AS
WITH "occurring" AS (
  SELECT DISTINCT "class", "list_id", UNNEST("sensitive") AS "item"
  FROM (SELECT "class", "list_id", "column_1" AS "sensitive" FROM "__sqlanon_row_1") AS "listed"
), "code" AS (
  SELECT "item", ROW_NUMBER() OVER () AS "value"
  FROM (SELECT DISTINCT "item" FROM "occurring") AS "different"
)
SELECT "occurring"."class", "occurring"."list_id", "code"."value"
FROM "occurring"
JOIN "code" ON "occurring"."item" IS NOT DISTINCT FROM "code"."item"
UNION ALL
SELECT "class", "list_id", 0 AS "value"
FROM (SELECT "class", "list_id", "column_1" AS "sensitive" FROM "__sqlanon_row_1") AS "listed";
