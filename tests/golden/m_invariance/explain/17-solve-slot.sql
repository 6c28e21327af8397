-- Look for: a counterfeit is a row whose number is NULL, in a hole or in the rest.

CREATE TEMPORARY TABLE "__sqlanon_slot_1" AS
SELECT *, udf(0) AS "draw"
FROM (
  WITH "numbered" AS (
    SELECT
      "row_no", "code",
      ROW_NUMBER() OVER (PARTITION BY "code" ORDER BY "draw" ASC NULLS LAST, "row_no" ASC NULLS LAST) AS "place"
    FROM "__sqlanon_newcomer_1" AS "newcomer"
  ), "numbered_hole" AS (
    SELECT
      "signature", "code",
      ROW_NUMBER() OVER (
        PARTITION BY "code"
        ORDER BY "draw" ASC NULLS LAST, "signature" ASC NULLS LAST, "hole" ASC NULLS LAST
      ) AS "place"
    FROM "__sqlanon_hole_1" AS "hole"
  )
  SELECT "row_no", "signature", "code"
  FROM "__sqlanon_source_row_1" AS "source_row"
  WHERE NOT "signature" IS NULL
  UNION ALL
  SELECT "n"."row_no", "h"."signature", "h"."code"
  FROM "numbered_hole" AS "h"
  JOIN "__sqlanon_quota_1" AS "q" ON "q"."code" = "h"."code"
  LEFT JOIN "numbered" AS "n" ON "n"."code" = "h"."code" AND "n"."place" = "h"."place" AND "h"."place" <= "q"."fillers"
  UNION ALL
  SELECT "n"."row_no", 0 AS "signature", "n"."code"
  FROM "numbered" AS "n"
  JOIN "__sqlanon_quota_1" AS "q" ON "q"."code" = "n"."code"
  WHERE "n"."place" > "q"."fillers"
  UNION ALL
  SELECT NULL AS "row_no", 0 AS "signature", "code"
  FROM (SELECT "code", UNNEST(RANGE(0, "counterfeits")) AS "copy" FROM "__sqlanon_quota_1" AS "quota") AS "joining"
) AS "each";
