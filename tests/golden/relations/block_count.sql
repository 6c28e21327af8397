WITH "ranked" AS (
  SELECT
    "chunk", ROW_NUMBER() OVER (PARTITION BY "chunk" ORDER BY "n" DESC NULLS LAST, "value" ASC NULLS LAST) AS "rank",
    CAST(SUM("n") OVER (
      PARTITION BY "chunk"
      ORDER BY "n" DESC NULLS LAST, "value" ASC NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS BIGINT) AS "top"
  FROM "counts"
  WHERE "value" > 0
), "total" AS (
  SELECT
    "chunk", CAST(SUM("n") AS BIGINT) AS "rows",
    CAST(SUM(CASE WHEN "value" > 0 THEN 1 ELSE "n" END) AS BIGINT) AS "different"
  FROM "counts"
  GROUP BY "chunk"
), "filled" AS (
  SELECT
    "total"."chunk",
    CAST(CASE
      WHEN MAX("total"."different") >= 4
      THEN LEAST(
        MAX("total"."rows") // 4,
        COALESCE(
          MIN(CASE WHEN "ranked"."rank" < 4 THEN ("total"."rows" - "ranked"."top") // (4 - "ranked"."rank") END),
          MAX("total"."rows") // 4
        )
      )
      ELSE 0
    END AS BIGINT) AS "blocks"
  FROM "total"
  LEFT JOIN "ranked" ON "total"."chunk" = "ranked"."chunk"
  GROUP BY "total"."chunk"
)
SELECT
  *,
  CAST(SUM("blocks") OVER (ORDER BY "chunk" ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) - "blocks" AS "base"
FROM "filled"
WHERE "blocks" > 0
