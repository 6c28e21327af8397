-- Look for: the spans of the attributes of one column, by which widths are divided; then those of the other column.

SELECT
  "number", COUNT(*) AS "count", MAX("position") - MIN("position") AS "span",
  BOOL_AND(CAST("position" - "first" = CAST("rank_0" AS DOUBLE) AS BOOLEAN)) AS "plain", SUM("leaf") AS "leaves",
  MAX(CASE WHEN "is_null" THEN "rank_0" END) AS "null_rank"
FROM (
  SELECT *, MIN("position") OVER (PARTITION BY "number") AS "first"
  FROM (
    SELECT 0 AS "number", "rank_0", "position", "leaf", "value" IS NULL AS "is_null"
    FROM "__sqlanon_ranked_1" AS "ranked"
    UNION ALL
    SELECT 1 AS "number", "rank_0", "position", "leaf", "value" IS NULL AS "is_null"
    FROM "__sqlanon_ranked_3" AS "ranked"
  ) AS "ranked"
) AS "with_first"
GROUP BY "number";

SELECT
  "number", COUNT(*) AS "count", MAX("position") - MIN("position") AS "span",
  BOOL_AND(CAST("position" - "first" = CAST("rank_0" AS DOUBLE) AS BOOLEAN)) AS "plain", SUM("leaf") AS "leaves",
  MAX(CASE WHEN "is_null" THEN "rank_0" END) AS "null_rank"
FROM (
  SELECT *, MIN("position") OVER (PARTITION BY "number") AS "first"
  FROM (
    SELECT 0 AS "number", "rank_0", "position", "leaf", "value" IS NULL AS "is_null"
    FROM "__sqlanon_ranked_2" AS "ranked"
  ) AS "ranked"
) AS "with_first"
GROUP BY "number";
