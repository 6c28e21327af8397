-- Look for: the span of each axis, by which widths are divided, and whether positions are just the ranks: only other
-- positions are read; one query for all axes.

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
    FROM "__sqlanon_ranked_2" AS "ranked"
    UNION ALL
    SELECT 2 AS "number", "rank_0", "position", "leaf", "value" IS NULL AS "is_null"
    FROM "__sqlanon_ranked_3" AS "ranked"
  ) AS "ranked"
) AS "with_first"
GROUP BY "number";

SELECT "rank_0", "position" FROM "__sqlanon_ranked_1";
