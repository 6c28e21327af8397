-- Look for: FULL JOIN of both sides: lost, invented, unknown and refused are outcomes of their own; `within` compares
-- with the bounds, and where nothing was estimated with the room; no relative error of 0.

DELETE FROM "anon"."query_error"
WHERE translate("workload", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = ? AND "release_id" = ?;

INSERT INTO "anon"."query_error"
SELECT
  'the release id' AS "release_id", 'counts' AS "workload", "query_id", "groups", "result", "actual", "estimated",
  "spread", "low", "high", "relative_error", "within", "outcome"
FROM (
  SELECT
    "query_id", COALESCE("groups", '[]') AS "groups", COALESCE("result", '') AS "result", "actual"."value" AS "actual",
    CASE WHEN "estimated"."kept" THEN "estimated"."estimate" END AS "estimated",
    CASE WHEN "estimated"."kept" THEN "estimated"."spread" END AS "spread", "estimated"."low" AS "low",
    "estimated"."high" AS "high",
    CASE
      WHEN "actual"."value" <> 0 AND "estimated"."kept"
      THEN CASE
        WHEN isfinite("actual"."value") AND isfinite("estimated"."estimate")
        THEN ABS("estimated"."estimate" - "actual"."value") / ABS("actual"."value")
      END
    END AS "relative_error",
    CASE
      WHEN NOT "refused"."query_id" IS NULL OR "actual"."query_id" IS NULL THEN NULL
      WHEN "estimated"."query_id" IS NULL AND "room"."query_id" IS NULL THEN FALSE
      WHEN "estimated"."query_id" IS NULL AND "room"."room" IS NULL THEN TRUE
      WHEN "estimated"."query_id" IS NULL THEN "room"."room" > 0
      AND (NOT "room"."counts" OR "actual"."value" <= "room"."room")
      WHEN "actual"."value" IS NULL THEN NULL
      ELSE COALESCE("estimated"."low" <= "actual"."value", TRUE)
      AND COALESCE("actual"."value" <= "estimated"."high", TRUE)
    END AS "within",
    CASE
      WHEN NOT "refused"."query_id" IS NULL THEN 'refused'
      WHEN "actual"."query_id" IS NULL THEN 'invented'
      WHEN "estimated"."query_id" IS NULL OR NOT "estimated"."kept" THEN 'lost'
      WHEN "estimated"."estimate" IS NULL THEN 'unknown'
      ELSE 'estimated'
    END AS "outcome"
  FROM "__sqlanon_actual_1" AS "actual"
  FULL JOIN "__sqlanon_estimated_1" AS "estimated" USING ("query_id", "groups", "result")
  FULL JOIN "__sqlanon_refused_1" AS "refused" USING ("query_id")
  LEFT JOIN "__sqlanon_room_1" AS "room" USING ("query_id", "result")
  WHERE NOT "actual"."query_id" IS NULL OR "estimated"."kept" OR NOT "refused"."query_id" IS NULL
) AS "error";
