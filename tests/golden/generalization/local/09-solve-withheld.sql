-- Look for: all requirements once more of the classes over all rounds together; `still` says whether what remains
-- would violate again.

CREATE TEMPORARY TABLE "__sqlanon_withheld_1" AS
WITH "node_row" AS (
  SELECT CAST(0 AS BIGINT) AS "tag", "class_0" AS "key_0", CAST(SUM("n") AS BIGINT) AS "n"
  FROM "__sqlanon_round_cells_1" AS "cells"
  GROUP BY "class_0"
), "equivalence_class" AS (
  SELECT ("tag" << 7) + "key_0" AS "class_id", "n" AS "size", "n" AS "entities"
  FROM "node_row"
), "kept" AS ({kept-2(2)}), "withheld" AS ({withheld-4})
SELECT "class_id" AS "key_0", "size", FALSE AS "still"
FROM "withheld";

SELECT "still" FROM "__sqlanon_withheld_1" AS "withheld" WHERE "still" LIMIT 1;
