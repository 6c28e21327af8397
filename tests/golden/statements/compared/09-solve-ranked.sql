-- Look for: the loss of the regions, by which the methods of nearly the least error are compared; then their spans.

SELECT CASE WHEN "value" IS NULL THEN 0 ELSE "leaf" END AS "known", "leaf", "n"
FROM "__sqlanon_ranked_1"
ORDER BY "rank_0" ASC NULLS LAST;

SELECT
  CASE WHEN (("key_0" & 31) >> 0) = COALESCE(({ranked("__sqlanon_ranked_1")}), -1) THEN 1 ELSE (("key_0" & 31) >> 0)
  END AS "low_0",
  CASE WHEN (("key_0" & 31) >> 0) = COALESCE(({ranked("__sqlanon_ranked_1")}), -1) THEN 0 ELSE (("key_0" & 31) >> 0)
  END AS "high_0",
  CASE WHEN (("key_0" & 31) >> 0) = COALESCE(({ranked("__sqlanon_ranked_1")}), -1) THEN 1 ELSE 0 END AS "null_0",
  CASE WHEN (("key_0" & 32) >> 5) = COALESCE(({ranked("__sqlanon_ranked_2")}), -1) THEN 1 ELSE (("key_0" & 32) >> 5)
  END AS "low_1",
  CASE WHEN (("key_0" & 32) >> 5) = COALESCE(({ranked("__sqlanon_ranked_2")}), -1) THEN 0 ELSE (("key_0" & 32) >> 5)
  END AS "high_1",
  CASE WHEN (("key_0" & 32) >> 5) = COALESCE(({ranked("__sqlanon_ranked_2")}), -1) THEN 1 ELSE 0 END AS "null_1",
  CASE WHEN (("key_0" & 960) >> 6) = COALESCE(({ranked("__sqlanon_ranked_3")}), -1) THEN 1 ELSE (("key_0" & 960) >> 6)
  END AS "low_2",
  CASE WHEN (("key_0" & 960) >> 6) = COALESCE(({ranked("__sqlanon_ranked_3")}), -1) THEN 0 ELSE (("key_0" & 960) >> 6)
  END AS "high_2",
  CASE WHEN (("key_0" & 960) >> 6) = COALESCE(({ranked("__sqlanon_ranked_3")}), -1) THEN 1 ELSE 0 END AS "null_2",
  CAST(SUM("n") AS BIGINT) AS "n"
FROM "__sqlanon_cells_4" AS "cells"
GROUP BY (("key_0" & 31) >> 0), (("key_0" & 32) >> 5), (("key_0" & 960) >> 6);
