SELECT
  *,
  CAST(SUM("blocks") OVER (ORDER BY "chunk" ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) - "blocks" AS "base"
FROM (
  SELECT
    "total"."chunk",
    CAST(CASE
      WHEN MAX("total"."different") >= 4
      THEN CASE
        WHEN (MAX("total"."rows") // 4) IS NULL
        OR COALESCE(
          MIN(CASE WHEN "ranked"."rank" < 4 THEN ("total"."rows" - "ranked"."top") // (4 - "ranked"."rank") END),
          MAX("total"."rows") // 4
        ) IS NULL
        THEN NULL
        ELSE LEAST(
          MAX("total"."rows") // 4,
          COALESCE(
            MIN(CASE WHEN "ranked"."rank" < 4 THEN ("total"."rows" - "ranked"."top") // (4 - "ranked"."rank") END),
            MAX("total"."rows") // 4
          )
        )
      END
      ELSE 0
    END AS BIGINT) AS "blocks"
  FROM (
    SELECT
      "chunk", CAST(SUM("n") AS BIGINT) AS "rows",
      CAST(SUM(CASE WHEN "value" > 0 THEN 1 ELSE "n" END) AS BIGINT) AS "different"
    FROM "counts"
    GROUP BY "chunk"
  ) AS "total"
  LEFT JOIN (
    SELECT
      "chunk", ROW_NUMBER() OVER (PARTITION BY "chunk" ORDER BY "n" DESC NULLS LAST, "value" ASC NULLS LAST) AS "rank",
      CAST(SUM("n") OVER (
        PARTITION BY "chunk"
        ORDER BY "n" DESC NULLS LAST, "value" ASC NULLS LAST
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) AS BIGINT) AS "top"
    FROM "counts"
    WHERE "value" > 0
  ) AS "ranked" ON "total"."chunk" = "ranked"."chunk"
  GROUP BY "total"."chunk"
) AS "filled"
WHERE "blocks" > 0
