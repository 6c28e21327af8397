-- Look for: position is the sum of the three columns' bits, which overlap nowhere.

CREATE TEMPORARY TABLE "__sqlanon_keyed_1" AS
SELECT
  "rows"."row", udf(0) AS "draw", "near_0"."bits" + "near_1"."bits" + "near_2"."bits" AS "position",
  COALESCE("key_0"."number", -1 - "rows"."row") AS "key_0"
FROM ({rows-2}) AS "rows"
JOIN "__sqlanon_spread_1" AS "near_0" ON "rows"."near_0" IS NOT DISTINCT FROM "near_0"."value"
JOIN "__sqlanon_spread_2" AS "near_1" ON "rows"."near_1" IS NOT DISTINCT FROM "near_1"."value"
JOIN "__sqlanon_spread_3" AS "near_2" ON "rows"."near_2" IS NOT DISTINCT FROM "near_2"."value"
LEFT JOIN "__sqlanon_repeated_1" AS "key_0" ON hash("rows"."value_3") = "key_0"."digest";
