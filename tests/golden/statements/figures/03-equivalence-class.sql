-- Look for: sizes are sums of what was counted; the figure reads the table, not the release.

CREATE TEMPORARY TABLE "__sqlanon_equivalence_class_1" AS
SELECT "class_id", CAST(SUM("n") AS BIGINT) AS "size", CAST(SUM("n") AS BIGINT) AS "entities"
FROM "__sqlanon_class_value_0_1" AS "class_value_0"
GROUP BY "class_id";

SELECT
  CAST(COUNT(*) AS DOUBLE) AS "classes", CAST(COALESCE(SUM("size"), 0) AS DOUBLE) AS "row_count",
  CAST(COALESCE(SUM(CASE WHEN "size" = 1 THEN 1 ELSE 0 END), 0) AS DOUBLE) AS "unique_rows",
  1.0 / NULLIF(CAST(MIN("size") AS DOUBLE), 0.0) AS "prosecutor_risk",
  CAST(COUNT(*) AS DOUBLE) / NULLIF(CAST(SUM("size") AS DOUBLE), 0.0) AS "marketer_risk"
FROM "__sqlanon_equivalence_class_1" AS "equivalence_class";
