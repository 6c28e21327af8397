-- Look for: buckets a half of the region apart are put together, all of a pair if any of it violates; `first` names
-- the bucket that both are now.

CREATE TEMPORARY TABLE "__sqlanon_slots_2" AS
SELECT
  "slot"."slot",
  "slot"."base",
  "slot"."chunk" % (
    (
      "slot"."chunks" + 1
    ) // 2
  ) AS "chunk",
  (
    "slot"."chunks" + 1
  ) // 2 AS "chunks",
  CASE
    WHEN "hit"."chunk" IS NULL
    THEN "slot"."first"
    ELSE "slot"."base" + (
      "slot"."chunk" % (
        (
          "slot"."chunks" + 1
        ) // 2
      )
    )
  END AS "first"
FROM "__sqlanon_slots_1" AS "slot"
LEFT JOIN (
  SELECT DISTINCT
    "slot"."base",
    "slot"."chunk" % (
      (
        "slot"."chunks" + 1
      ) // 2
    ) AS "chunk"
  FROM "__sqlanon_slots_1" AS "slot"
  JOIN "__sqlanon_violating_1" AS "violating"
    ON "slot"."slot" = "violating"."class_id"
) AS "hit"
  ON "slot"."base" = "hit"."base"
  AND (
    "slot"."chunk" % (
      (
        "slot"."chunks" + 1
      ) // 2
    )
  ) = "hit"."chunk";
