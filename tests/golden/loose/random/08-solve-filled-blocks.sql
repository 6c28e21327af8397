-- Look for: rows of a value go into blocks one after the other, each value where the last one ended; `turn` moves the
-- whole round by bits of all draws; a value that has more rows than there are blocks leaves the rest without one.

CREATE TEMPORARY TABLE "__sqlanon_filled_blocks_1" AS
WITH "counts" AS (
  SELECT
    "chunk",
    "value",
    COUNT(*) AS "n",
    BIT_XOR("draw") AS "drawn"
  FROM (
    SELECT
      *,
      CASE WHEN "key_0" > 0 THEN "key_0" ELSE 0 END AS "value",
      0 AS "chunk"
    FROM (
      SELECT
        *,
        "rowid" - (
          SELECT
            MIN("rowid")
          FROM "__sqlanon_sorted_rows_1"
        ) AS "number"
      FROM "__sqlanon_sorted_rows_1"
    ) AS "sorted_rows"
  ) AS "part"
  GROUP BY
    "chunk",
    "value"
), "block_count" AS (
  SELECT
    *,
    CAST(SUM("blocks") OVER (ORDER BY "chunk" ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) - "blocks" AS "base"
  FROM (
    SELECT
      "total"."chunk",
      CAST(CASE
        WHEN MAX("total"."different") >= 4
        THEN CASE
          WHEN (
            MAX("total"."rows") // 4
          ) IS NULL
          OR COALESCE(
            MIN(
              CASE
                WHEN "ranked"."rank" < 4
                THEN (
                  "total"."rows" - "ranked"."top"
                ) // (
                  4 - "ranked"."rank"
                )
              END
            ),
            MAX("total"."rows") // 4
          ) IS NULL
          THEN NULL
          ELSE LEAST(
            MAX("total"."rows") // 4,
            COALESCE(
              MIN(
                CASE
                  WHEN "ranked"."rank" < 4
                  THEN (
                    "total"."rows" - "ranked"."top"
                  ) // (
                    4 - "ranked"."rank"
                  )
                END
              ),
              MAX("total"."rows") // 4
            )
          )
        END
        ELSE 0
      END AS BIGINT) AS "blocks"
    FROM (
      SELECT
        "chunk",
        CAST(SUM("n") AS BIGINT) AS "rows",
        CAST(SUM(CASE WHEN "value" > 0 THEN 1 ELSE "n" END) AS BIGINT) AS "different"
      FROM "counts"
      GROUP BY
        "chunk"
    ) AS "total"
    LEFT JOIN (
      SELECT
        "chunk",
        ROW_NUMBER() OVER (PARTITION BY "chunk" ORDER BY "n" DESC NULLS LAST, "value" ASC NULLS LAST) AS "rank",
        CAST(SUM("n") OVER (
          PARTITION BY "chunk"
          ORDER BY "n" DESC NULLS LAST, "value" ASC NULLS LAST
          ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS BIGINT) AS "top"
      FROM "counts"
      WHERE
        "value" > 0
    ) AS "ranked"
      ON "total"."chunk" = "ranked"."chunk"
    GROUP BY
      "total"."chunk"
  ) AS "filled"
  WHERE
    "blocks" > 0
), "starts" AS (
  SELECT
    *,
    CAST(SUM("spread") OVER (
      PARTITION BY "chunk"
      ORDER BY "value" ASC NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS BIGINT) - "spread" AS "first",
    CAST(SUM("spread") OVER (PARTITION BY "chunk") AS BIGINT) AS "all_spread",
    CAST((
      (
        BIT_XOR("drawn") OVER (PARTITION BY "chunk") % CAST(SUM("spread") OVER (PARTITION BY "chunk") AS BIGINT)
      ) + CAST(SUM("spread") OVER (PARTITION BY "chunk") AS BIGINT)
    ) % CAST(SUM("spread") OVER (PARTITION BY "chunk") AS BIGINT) AS BIGINT) AS "turn"
  FROM (
    SELECT
      "chunk",
      "value",
      "before",
      "blocks",
      "base",
      "drawn",
      CASE
        WHEN "value" = 0
        THEN "n"
        ELSE CASE WHEN "n" IS NULL OR "blocks" IS NULL THEN NULL ELSE LEAST("n", "blocks") END
      END AS "spread"
    FROM (
      SELECT
        *,
        CAST(SUM("n") OVER (
          ORDER BY "chunk" ASC NULLS LAST, "value" ASC NULLS LAST
          ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS BIGINT) - "n" AS "before"
      FROM "counts"
    ) AS "counted"
    JOIN "block_count"
      USING ("chunk")
  ) AS "joined"
)
SELECT
  "part"."row",
  "part"."draw",
  "part"."position",
  "part"."key_0",
  CASE
    WHEN (
      "part"."number" - "start"."before"
    ) < "start"."spread"
    AND (
      (
        "start"."first" + (
          "part"."number" - "start"."before"
        ) + "start"."turn"
      ) % "start"."all_spread"
    ) < "start"."blocks" * 4
    THEN CAST("start"."base" + (
      (
        (
          "start"."first" + (
            "part"."number" - "start"."before"
          ) + "start"."turn"
        ) % "start"."all_spread"
      )
    ) % "start"."blocks" + 1 AS BIGINT)
  END AS "block"
FROM (
  SELECT
    *,
    CASE WHEN "key_0" > 0 THEN "key_0" ELSE 0 END AS "value",
    0 AS "chunk"
  FROM (
    SELECT
      *,
      "rowid" - (
        SELECT
          MIN("rowid")
        FROM "__sqlanon_sorted_rows_1"
      ) AS "number"
    FROM "__sqlanon_sorted_rows_1"
  ) AS "sorted_rows"
) AS "part"
LEFT JOIN "starts" AS "start"
  ON "part"."chunk" = "start"."chunk" AND "part"."value" = "start"."value";
