-- Look for: a counterfeit has the position of a row of its region that was drawn, by its number.

CREATE TEMPORARY TABLE "__sqlanon_region_1" AS
SELECT
  "each"."row_no",
  "each"."signature",
  "each"."code",
  "each"."draw",
  CAST("each"."region" AS BIGINT) AS "region",
  "row"."position_0",
  "row"."position_1",
  "row"."position_2"
FROM (
  WITH "known" AS (
    SELECT
      "region",
      "row_no",
      ROW_NUMBER() OVER (PARTITION BY "region" ORDER BY "draw" ASC NULLS LAST, "row_no" ASC NULLS LAST) - 1 AS "number",
      COUNT(*) OVER (PARTITION BY "region") AS "n"
    FROM "__sqlanon_near_row_1" AS "near_row"
    WHERE
      NOT "row_no" IS NULL
  ), "counterfeit" AS (
    SELECT
      "signature",
      "code",
      "region",
      "draw",
      ROW_NUMBER() OVER (PARTITION BY "region" ORDER BY "draw" ASC NULLS LAST, "code" ASC NULLS LAST) - 1 AS "number"
    FROM "__sqlanon_near_row_1" AS "near_row"
    WHERE
      "row_no" IS NULL
  )
  SELECT
    "row_no",
    "signature",
    "code",
    "region",
    "draw",
    "row_no" AS "lies_at"
  FROM "__sqlanon_near_row_1" AS "near_row"
  WHERE
    NOT "row_no" IS NULL
  UNION ALL
  SELECT
    NULL AS "row_no",
    "c"."signature",
    "c"."code",
    "c"."region",
    "c"."draw",
    "k"."row_no" AS "lies_at"
  FROM "counterfeit" AS "c"
  JOIN "known" AS "k"
    ON "k"."region" = "c"."region" AND "k"."number" = "c"."number" % "k"."n"
) AS "each"
JOIN "__sqlanon_source_row_1" AS "row"
  ON "each"."lies_at" = "row"."row_no";
