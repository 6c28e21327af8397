-- Look for: a counterfeit has the position of a row of its region that was drawn, by its number.

CREATE TEMPORARY TABLE "__sqlanon_region_1" AS
SELECT
  "each"."row_no", "each"."signature", "each"."code", "each"."draw", CAST("each"."region" AS BIGINT) AS "region",
  "row"."position_0", "row"."position_1", "row"."position_2"
FROM (
  WITH "known" AS (
    SELECT
      "region", "row_no",
      ROW_NUMBER() OVER (PARTITION BY "region" ORDER BY "draw" ASC NULLS LAST, "row_no" ASC NULLS LAST) - 1 AS "number",
      COUNT(*) OVER (PARTITION BY "region") AS "n"
    FROM "__sqlanon_near_row_1" AS "near_row"
    WHERE NOT "row_no" IS NULL
  ), "counterfeit" AS (
    SELECT
      "signature", "code", "region", "draw",
      ROW_NUMBER() OVER (PARTITION BY "region" ORDER BY "draw" ASC NULLS LAST, "code" ASC NULLS LAST) - 1 AS "number"
    FROM "__sqlanon_near_row_1" AS "near_row"
    WHERE "row_no" IS NULL
  )
  SELECT "row_no", "signature", "code", "region", "draw", "row_no" AS "lies_at"
  FROM "__sqlanon_near_row_1" AS "near_row"
  WHERE NOT "row_no" IS NULL
  UNION ALL
  SELECT NULL AS "row_no", "c"."signature", "c"."code", "c"."region", "c"."draw", "k"."row_no" AS "lies_at"
  FROM "counterfeit" AS "c"
  JOIN "known" AS "k" ON "k"."region" = "c"."region" AND "k"."number" = "c"."number" % "k"."n"
) AS "each"
JOIN "__sqlanon_source_row_1" AS "row" ON "each"."lies_at" = "row"."row_no";

CREATE TEMPORARY TABLE "__sqlanon_region_2" AS
SELECT
  "row"."row_no", "row"."signature", "row"."code", "row"."draw",
  "row"."region" * 2 + CAST((
    ROW_NUMBER() OVER (
      PARTITION BY "row"."region", "row"."code"
      ORDER BY CASE
        WHEN "turn"."attribute" = 0 THEN "row"."position_0"
        WHEN "turn"."attribute" = 1 THEN "row"."position_1"
        WHEN "turn"."attribute" = 2 THEN "row"."position_2"
      END ASC NULLS LAST, "row"."draw" ASC NULLS LAST, "row"."row_no" ASC NULLS LAST
    ) * 2 > COUNT(*) OVER (PARTITION BY "row"."region", "row"."code")
  ) AS BIGINT) AS "region",
  "row"."position_0", "row"."position_1", "row"."position_2"
FROM "__sqlanon_region_1" AS "row"
JOIN (
  SELECT
    "region",
    CASE
      WHEN "variance_0" >= "most" * CAST(0.999999999 AS DOUBLE) THEN 0
      WHEN "variance_1" >= "most" * CAST(0.999999999 AS DOUBLE) THEN 1
      WHEN "variance_2" >= "most" * CAST(0.999999999 AS DOUBLE) THEN 2
    END AS "attribute"
  FROM (
    SELECT *, GREATEST("variance_0", "variance_1", "variance_2") AS "most"
    FROM (
      SELECT
        "region", VAR_POP("position_0") FILTER(WHERE NOT "row_no" IS NULL) AS "variance_0",
        VAR_POP("position_1") FILTER(WHERE NOT "row_no" IS NULL) AS "variance_1",
        VAR_POP("position_2") FILTER(WHERE NOT "row_no" IS NULL) AS "variance_2"
      FROM "__sqlanon_region_1" AS "regions"
      GROUP BY "region"
    ) AS "span"
  ) AS "compared"
) AS "turn" ON "row"."region" = "turn"."region";
