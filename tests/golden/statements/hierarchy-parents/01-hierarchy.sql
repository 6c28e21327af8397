-- Look for: the user's query runs once and is copied, so that all checks see the same rows; no rows, an edge twice,
-- two parents, a parent that is no node, a cycle, a shallow NULL, shallow leaves: one query for each, over the same four
-- steps; UNION and not UNION ALL, so that a cycle ends.

CREATE TEMPORARY VIEW "__sqlanon_hierarchy_1" AS SELECT value, parent FROM kinds;
CREATE TEMPORARY TABLE "__sqlanon_hierarchy_2" AS SELECT * FROM "__sqlanon_hierarchy_1";
SELECT COUNT(*) FROM (SELECT 'tree' AS "name" WHERE NOT EXISTS(SELECT 1 FROM "__sqlanon_hierarchy_2")) AS "offending";

SELECT COUNT(*)
FROM (
  WITH RECURSIVE "tree edge" AS (
    SELECT CAST("value" AS TEXT) AS "node", CAST("parent" AS TEXT) AS "parent"
    FROM "__sqlanon_hierarchy_2"
  ), "tree ancestor" AS ({query}), "tree depth" AS ({node}), "tree leaf" AS ({query-2})
  SELECT
    CASE WHEN "node" IS NULL THEN 'NULL' ELSE '''' || "node" || '''' END || ' under ' || CASE WHEN "parent" IS NULL THEN 'NULL' ELSE '''' || "parent" || '''' END AS "name"
  FROM "tree edge"
  GROUP BY "node", "parent"
  HAVING COUNT(*) > 1
) AS "offending";

SELECT COUNT(*)
FROM (
  WITH RECURSIVE "tree edge" AS (
    SELECT CAST("value" AS TEXT) AS "node", CAST("parent" AS TEXT) AS "parent"
    FROM "__sqlanon_hierarchy_2"
  ), "tree ancestor" AS ({query}), "tree depth" AS ({node}), "tree leaf" AS ({query-2})
  SELECT
    CASE WHEN "node" IS NULL THEN 'NULL' ELSE '''' || "node" || '''' END || ' under ' || CASE WHEN MIN("parent") IS NULL THEN 'NULL' ELSE '''' || MIN("parent") || '''' END || ' and ' || CASE
      WHEN COUNT("parent") <> COUNT(*) THEN 'NULL'
      ELSE CASE WHEN MAX("parent") IS NULL THEN 'NULL' ELSE '''' || MAX("parent") || '''' END
    END AS "name"
  FROM "tree edge"
  GROUP BY "node"
  HAVING MIN("parent") <> MAX("parent") OR (COUNT("parent") <> COUNT(*) AND COUNT("parent") > 0)
) AS "offending";

SELECT COUNT(*)
FROM (
  WITH RECURSIVE "tree edge" AS (
    SELECT CAST("value" AS TEXT) AS "node", CAST("parent" AS TEXT) AS "parent"
    FROM "__sqlanon_hierarchy_2"
  ), "tree ancestor" AS ({query}), "tree depth" AS ({node}), "tree leaf" AS ({query-2})
  SELECT
    CASE WHEN "child"."parent" IS NULL THEN 'NULL' ELSE '''' || "child"."parent" || ''''
    END || ' (parent of ' || MIN(
      CASE WHEN "child"."node" IS NULL THEN 'NULL' ELSE '''' || "child"."node" || '''' END
    ) || ')' AS "name"
  FROM "tree edge" AS "child"
  WHERE
    NOT "child"."parent" IS NULL
    AND NOT EXISTS(SELECT 1 FROM "tree edge" AS "node" WHERE "node"."node" = "child"."parent")
  GROUP BY "child"."parent"
) AS "offending";

SELECT COUNT(*)
FROM (
  WITH RECURSIVE "tree edge" AS (
    SELECT CAST("value" AS TEXT) AS "node", CAST("parent" AS TEXT) AS "parent"
    FROM "__sqlanon_hierarchy_2"
  ), "tree ancestor" AS ({query}), "tree depth" AS ({node}), "tree leaf" AS ({query-2})
  SELECT CASE WHEN "node" IS NULL THEN 'NULL' ELSE '''' || "node" || '''' END AS "name"
  FROM "tree ancestor"
  WHERE "node" = "ancestor"
) AS "offending";

SELECT COUNT(*)
FROM (
  WITH RECURSIVE "tree edge" AS (
    SELECT CAST("value" AS TEXT) AS "node", CAST("parent" AS TEXT) AS "parent"
    FROM "__sqlanon_hierarchy_2"
  ), "tree ancestor" AS ({query}), "tree depth" AS ({node}), "tree leaf" AS ({query-2})
  SELECT
    CASE WHEN "node" IS NULL THEN 'NULL' ELSE '''' || "node" || '''' END || ' (depth ' || CAST("depth" AS TEXT) || ', the deepest ' || CAST((
      SELECT MAX("depth")
      FROM "tree leaf"
    ) AS TEXT) || ')' AS "name"
  FROM "tree leaf"
  WHERE "depth" <> (SELECT MAX("depth") FROM "tree leaf") AND "node" IS NULL
) AS "offending";

SELECT COUNT(*)
FROM (
  WITH RECURSIVE "tree edge" AS (
    SELECT CAST("value" AS TEXT) AS "node", CAST("parent" AS TEXT) AS "parent"
    FROM "__sqlanon_hierarchy_2"
  ), "tree ancestor" AS ({query}), "tree depth" AS ({node}), "tree leaf" AS ({query-2})
  SELECT
    CASE WHEN "node" IS NULL THEN 'NULL' ELSE '''' || "node" || '''' END || ' (depth ' || CAST("depth" AS TEXT) || ', the deepest ' || CAST((
      SELECT MAX("depth")
      FROM "tree leaf"
    ) AS TEXT) || ')' AS "name"
  FROM "tree leaf"
  WHERE "depth" <> (SELECT MAX("depth") FROM "tree leaf") AND NOT "node" IS NULL
) AS "offending";
