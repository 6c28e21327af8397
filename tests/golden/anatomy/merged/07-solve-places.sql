-- Look for: rows find their bucket over all slots; how large buckets are is counted from the rows.

CREATE TEMPORARY TABLE "__sqlanon_places_1" AS
SELECT
  "number"."bucket",
  "dealt"."code_0",
  "dealt"."column_0",
  "dealt"."column_1",
  "dealt"."column_2"
FROM "__sqlanon_dealt_1" AS "dealt"
JOIN "__sqlanon_all_numbers_1" AS "number"
  ON "dealt"."slot" = "number"."slot";

SELECT
  COUNT(*),
  COALESCE(MIN("n"), 0),
  COALESCE(MAX("n"), 0),
  COALESCE(CAST(SUM("n") AS BIGINT), 0)
FROM (
  SELECT
    COUNT(*) AS "n"
  FROM "__sqlanon_places_1"
  GROUP BY
    "bucket"
) AS "bucket";
