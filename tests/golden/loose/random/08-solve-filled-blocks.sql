-- Look for: rows of a value go into blocks one after the other, each value where the last one ended; `turn` moves the
-- whole round by bits of all draws; a value that has more rows than there are blocks leaves the rest without one.

CREATE TEMPORARY TABLE "__sqlanon_filled_blocks_1" AS
WITH "counts" AS (
  SELECT "chunk", "value", COUNT(*) AS "n", BIT_XOR("draw") AS "drawn"
  FROM ({part}) AS "part"
  GROUP BY "chunk", "value"
), "block_count" AS ({block_count}), "starts" AS (
  SELECT
    "chunk", "value", "before", "blocks", "base", "spread", "first", "all_spread",
    CAST(("all_drawn" % "all_spread" + "all_spread") % "all_spread" AS BIGINT) AS "turn"
  FROM (
    SELECT
      *,
      CAST(SUM("spread") OVER (
        PARTITION BY "chunk"
        ORDER BY "value" ASC NULLS LAST
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) AS BIGINT) - "spread" AS "first",
      CAST(SUM("spread") OVER (PARTITION BY "chunk") AS BIGINT) AS "all_spread",
      BIT_XOR("drawn") OVER (PARTITION BY "chunk") AS "all_drawn"
    FROM (
      SELECT
        "chunk", "value", "before", "blocks", "base", "drawn",
        CASE WHEN "value" = 0 THEN "n" ELSE LEAST("n", "blocks") END AS "spread"
      FROM (
        SELECT
          *,
          CAST(SUM("n") OVER (
            ORDER BY "chunk" ASC NULLS LAST, "value" ASC NULLS LAST
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
          ) AS BIGINT) - "n" AS "before"
        FROM "counts"
      ) AS "counted"
      JOIN "block_count" USING ("chunk")
    ) AS "joined"
  ) AS "summed"
)
SELECT
  "part"."row", "part"."draw", "part"."position", "part"."key_0",
  CASE WHEN "rank" < "spread" AND "moved" < "blocks" * 4 THEN CAST("base" + "moved" % "blocks" + 0 + 1 AS BIGINT)
  END AS "block"
FROM (
  SELECT
    "part"."row", "part"."draw", "part"."position", "part"."key_0", "start"."spread", "start"."blocks", "start"."base",
    "part"."number" - "start"."before" AS "rank",
    ("start"."first" + ("part"."number" - "start"."before") + "start"."turn") % "start"."all_spread" AS "moved"
  FROM ({part}) AS "part"
  LEFT JOIN "starts" AS "start" ON "part"."chunk" = "start"."chunk" AND "part"."value" = "start"."value"
) AS "part";
