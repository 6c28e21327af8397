-- Look for: parts are counted once, with their bounds; the middle part goes to the side that makes the halves more
-- even; children from the parts alone and not from the points.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_parts_1" AS
SELECT
  "label",
  COUNT(*) AS "rows",
  CAST((
    MIN("key_0" & 31)
  ) AS INT) AS "low_0",
  CAST((
    MAX("key_0" & 31)
  ) AS INT) AS "high_0",
  CAST((
    MIN("key_0" & 32) >> 5
  ) AS INT) AS "low_1",
  CAST((
    MAX("key_0" & 32) >> 5
  ) AS INT) AS "high_1",
  CAST((
    MIN("key_0" & 960) >> 6
  ) AS INT) AS "low_2",
  CAST((
    MAX("key_0" & 960) >> 6
  ) AS INT) AS "high_2"
FROM "__sqlanon_sides_1"
GROUP BY
  "label";

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_children_1" AS
SELECT
  CAST("part"."label" // 3 AS BIGINT) AS "region",
  CAST(CASE WHEN "part"."label" % 3 < "nearest"."first_upper" THEN 0 ELSE 1 END AS BIGINT) AS "side",
  ARRAY_AGG("part"."label") AS "labels",
  CAST(SUM("part"."rows") AS BIGINT) AS "rows",
  MIN("low_0") AS "low_0",
  MAX("high_0") AS "high_0",
  MIN("low_1") AS "low_1",
  MAX("high_1") AS "high_1",
  MIN("low_2") AS "low_2",
  MAX("high_2") AS "high_2"
FROM "__sqlanon_parts_1" AS "part"
JOIN (
  SELECT
    "region",
    CASE
      WHEN "below" = 0
      OR (
        "above" > 0
        AND ABS((
          "below" + "at"
        ) - "above") < ABS("below" - (
          "at" + "above"
        ))
      )
      THEN 2
      ELSE 1
    END AS "first_upper"
  FROM (
    SELECT
      CAST("part"."label" // 3 AS BIGINT) AS "region",
      CAST(SUM(CASE WHEN "part"."label" % 3 = 0 THEN "part"."rows" ELSE 0 END) AS BIGINT) AS "below",
      CAST(SUM(CASE WHEN "part"."label" % 3 = 1 THEN "part"."rows" ELSE 0 END) AS BIGINT) AS "at",
      CAST(SUM(CASE WHEN "part"."label" % 3 = 2 THEN "part"."rows" ELSE 0 END) AS BIGINT) AS "above"
    FROM "__sqlanon_parts_1" AS "part"
    GROUP BY
      CAST("part"."label" // 3 AS BIGINT)
  ) AS "sums"
) AS "nearest"
  ON CAST("part"."label" // 3 AS BIGINT) = "nearest"."region"
GROUP BY
  CAST("part"."label" // 3 AS BIGINT),
  CAST(CASE WHEN "part"."label" % 3 < "nearest"."first_upper" THEN 0 ELSE 1 END AS BIGINT);
