-- Look for: the value of the cut always belongs to the lower half (< 2): the gain was computed so.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_children_1" AS
SELECT
  CAST("part"."label" // 3 AS BIGINT) AS "region",
  CAST(CASE WHEN "part"."label" % 3 < 2 THEN 0 ELSE 1 END AS BIGINT) AS "side",
  ARRAY_AGG("part"."label") AS "labels",
  CAST(SUM("part"."rows") AS BIGINT) AS "rows",
  MIN("low_0") AS "low_0",
  MAX("high_0") AS "high_0",
  MIN("low_1") AS "low_1",
  MAX("high_1") AS "high_1",
  MIN("low_2") AS "low_2",
  MAX("high_2") AS "high_2"
FROM "__sqlanon_parts_1" AS "part"
GROUP BY
  CAST("part"."label" // 3 AS BIGINT),
  CAST(CASE WHEN "part"."label" % 3 < 2 THEN 0 ELSE 1 END AS BIGINT);
