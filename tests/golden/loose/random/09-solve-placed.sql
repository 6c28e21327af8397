-- Look for: the rows with a block, without their keys and draws.

CREATE TEMPORARY TABLE "__sqlanon_placed_1" AS
SELECT "row", "block", "position"
FROM "__sqlanon_filled_blocks_1"
WHERE NOT "block" IS NULL;
