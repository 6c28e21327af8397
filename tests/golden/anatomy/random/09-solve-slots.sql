-- Look for: one slot a bucket, each its own `first`: the bucket into which it has been put together.

CREATE TEMPORARY TABLE "__sqlanon_slots_1" AS
SELECT "base" + "chunk" AS "slot", "base", "chunk", "chunks", "base" + "chunk" AS "first"
FROM (
  SELECT "base", "groups" AS "chunks", UNNEST(GENERATE_SERIES(0, "groups" - 1, 1)) AS "chunk"
  FROM "__sqlanon_groups_1" AS "groups"
) AS "numbered";
