-- Look for: within a signature one row of each value; the rest by their values, so that none meets itself.

CREATE TEMPORARY TABLE "__sqlanon_placed_1" AS
WITH "rest" AS (SELECT GREATEST(COUNT(*) // 2, 1) AS "classes" FROM "__sqlanon_slot_1" AS "slot" WHERE "signature" = 0)
SELECT
  "row_no", "signature", "code",
  ROW_NUMBER() OVER (
    PARTITION BY "signature" * (SELECT MAX("code") + 1 FROM "__sqlanon_quota_1" AS "quota") + "code"
    ORDER BY "draw" ASC NULLS LAST
  ) AS "place"
FROM "__sqlanon_slot_1" AS "slot"
WHERE "signature" > 0
UNION ALL
SELECT "s"."row_no", "s"."signature", "s"."code", "s"."number" % "rest"."classes" AS "place"
FROM (
  SELECT
    "s"."row_no", "s"."signature", "s"."code",
    ROW_NUMBER() OVER (
      ORDER BY "q"."draw" ASC NULLS LAST, "s"."code" ASC NULLS LAST, "s"."draw" ASC NULLS LAST
    ) - 1 AS "number"
  FROM "__sqlanon_slot_1" AS "s"
  JOIN "__sqlanon_quota_1" AS "q" ON "q"."code" = "s"."code"
  WHERE "s"."signature" = 0
) AS "s"
CROSS JOIN "rest";
