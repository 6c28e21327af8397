-- Look for: the ranks that each label of a level stands for: low, high, and whether NULL is among them.

CREATE TEMPORARY TABLE "__sqlanon_label_ranks_1" AS
SELECT
  ("coded"."key_0" & CAST(16 AS BIGINT)) AS "key_0",
  COALESCE(MIN(CASE WHEN NOT "coded"."value" IS NULL THEN "ranks"."rank_0" END), 1) AS "low",
  COALESCE(MAX(CASE WHEN NOT "coded"."value" IS NULL THEN "ranks"."rank_0" END), 0) AS "high",
  MAX(CASE WHEN "coded"."value" IS NULL THEN 1 ELSE 0 END) AS "missing"
FROM (
  SELECT "value", ("rank_0" << 0) + ("rank_1" << 2) + ("rank_2" << 3) + ("rank_3" << 4) AS "key_0"
  FROM "__sqlanon_tree_1"
) AS "coded"
JOIN "__sqlanon_ranked_1" AS "ranks" ON "ranks"."value" IS NOT DISTINCT FROM "coded"."value"
GROUP BY ("coded"."key_0" & CAST(16 AS BIGINT));

CREATE TEMPORARY TABLE "__sqlanon_label_ranks_2" AS
SELECT
  ("coded"."key_0" & CAST(32 AS BIGINT)) AS "key_0",
  COALESCE(MIN(CASE WHEN NOT "coded"."value" IS NULL THEN "ranks"."rank_0" END), 1) AS "low",
  COALESCE(MAX(CASE WHEN NOT "coded"."value" IS NULL THEN "ranks"."rank_0" END), 0) AS "high",
  MAX(CASE WHEN "coded"."value" IS NULL THEN 1 ELSE 0 END) AS "missing"
FROM (SELECT "value", ("rank_0" << 5) AS "key_0" FROM "__sqlanon_tree_2") AS "coded"
JOIN "__sqlanon_ranked_2" AS "ranks" ON "ranks"."value" IS NOT DISTINCT FROM "coded"."value"
GROUP BY ("coded"."key_0" & CAST(32 AS BIGINT));

CREATE TEMPORARY TABLE "__sqlanon_label_ranks_3" AS
SELECT
  ("coded"."key_0" & CAST(512 AS BIGINT)) AS "key_0",
  COALESCE(MIN(CASE WHEN NOT "coded"."value" IS NULL THEN "ranks"."rank_0" END), 1) AS "low",
  COALESCE(MAX(CASE WHEN NOT "coded"."value" IS NULL THEN "ranks"."rank_0" END), 0) AS "high",
  MAX(CASE WHEN "coded"."value" IS NULL THEN 1 ELSE 0 END) AS "missing"
FROM (SELECT "value", ("rank_0" << 6) + ("rank_1" << 9) AS "key_0" FROM "__sqlanon_tree_3") AS "coded"
JOIN "__sqlanon_ranked_3" AS "ranks" ON "ranks"."value" IS NOT DISTINCT FROM "coded"."value"
GROUP BY ("coded"."key_0" & CAST(512 AS BIGINT));
