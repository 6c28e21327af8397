-- Look for: leaves only, each at level 0 itself, and a label for every level; a single root is left out, for the top
-- is '*' anyway.

CREATE TEMPORARY TABLE "__sqlanon_values_1" AS
WITH RECURSIVE "tree edge" AS (
  SELECT CAST("value" AS TEXT) AS "node", CAST("parent" AS TEXT) AS "parent"
  FROM "__sqlanon_hierarchy_2"
), "tree ancestor" AS ({query}), "tree depth" AS ({node}), "tree leaf" AS ({query-2})
SELECT "value", CAST("level" AS INT) AS "level", "label"
FROM (
  SELECT "value", "level", "label"
  FROM (
    SELECT
      "leaf"."node" AS "value", ((SELECT MAX("depth") FROM "tree leaf")) - "at"."depth" AS "level",
      "leaf"."node" AS "label"
    FROM "tree leaf" AS "leaf"
    JOIN (SELECT DISTINCT "depth" FROM "tree depth") AS "at" ON "at"."depth" >= "leaf"."depth"
    UNION ALL
    SELECT
      "leaf"."node" AS "value", ((SELECT MAX("depth") FROM "tree leaf")) - "above"."depth" AS "level",
      "above"."node" AS "label"
    FROM "tree leaf" AS "leaf"
    JOIN "tree ancestor" AS "path" ON "path"."node" IS NOT DISTINCT FROM "leaf"."node"
    JOIN "tree depth" AS "above" ON "above"."node" = "path"."ancestor"
    WHERE "above"."depth" > 0 OR (SELECT COUNT(*) FROM "tree edge" WHERE "parent" IS NULL) > 1
  ) AS "part"
) AS "long";

SELECT MAX("level") FROM "__sqlanon_values_1";
