-- Look for: chunks are half as many; chunk i and the one half the region further become one bucket if one of them
-- violates, and else keep theirs; `first` names the bucket that both are now.

CREATE TEMPORARY TABLE "__sqlanon_slots_2" AS
SELECT
  "slot"."slot", "slot"."base", "slot"."chunk" % (("slot"."chunks" + 1) // 2) AS "chunk",
  ("slot"."chunks" + 1) // 2 AS "chunks",
  CASE WHEN "hit"."chunk" IS NULL THEN "slot"."first" ELSE "slot"."base" + "slot"."chunk" % (("slot"."chunks" + 1) // 2)
  END AS "first"
FROM "__sqlanon_slots_1" AS "slot"
LEFT JOIN (
  SELECT DISTINCT "slot"."base", "slot"."chunk" % (("slot"."chunks" + 1) // 2) AS "chunk"
  FROM "__sqlanon_slots_1" AS "slot"
  JOIN "__sqlanon_violating_1" AS "violating" ON "slot"."slot" = "violating"."class_id"
) AS "hit" ON "slot"."base" = "hit"."base" AND "slot"."chunk" % (("slot"."chunks" + 1) // 2) = "hit"."chunk";
