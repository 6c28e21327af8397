-- Look for: cells inside and outside of the round; then the spans of a choice: the rows of each class with the ranks
-- that each label stands for, from which drawn counts are estimated in memory.

CREATE TEMPORARY TABLE "__sqlanon_cells_2" AS
SELECT "cell".*
FROM "__sqlanon_cells_1" AS "cell"
WHERE EXISTS({classes("__sqlanon_classes_1", 572)});

CREATE TEMPORARY TABLE "__sqlanon_cells_3" AS
SELECT "cell".*
FROM "__sqlanon_cells_1" AS "cell"
WHERE NOT EXISTS({classes("__sqlanon_classes_1", 572)});

SELECT
  "class"."n", "label_0"."low" AS "low_0", "label_0"."high" AS "high_0", "label_0"."missing" AS "null_0",
  "label_1"."low" AS "low_1", "label_1"."high" AS "high_1", "label_1"."missing" AS "null_1", "label_2"."low" AS "low_2",
  "label_2"."high" AS "high_2", "label_2"."missing" AS "null_2"
FROM (
  SELECT ("key_0" & 560) AS "key_0", CAST(SUM("n") AS BIGINT) AS "n"
  FROM "__sqlanon_cells_1" AS "cells"
  GROUP BY ("key_0" & 560)
) AS "class"
JOIN "__sqlanon_label_ranks_1" AS "label_0" ON ("class"."key_0" & CAST(16 AS BIGINT)) = "label_0"."key_0"
JOIN "__sqlanon_label_ranks_2" AS "label_1" ON ("class"."key_0" & CAST(32 AS BIGINT)) = "label_1"."key_0"
JOIN "__sqlanon_label_ranks_3" AS "label_2" ON ("class"."key_0" & CAST(512 AS BIGINT)) = "label_2"."key_0";
