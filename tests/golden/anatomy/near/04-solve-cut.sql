-- Look for: the best cut of each region among those that are not broken.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_cut_1" AS
SELECT
  "turn"."region", "turn"."label", "turn"."median",
  list_extract([CAST(0 AS BIGINT), CAST(5 AS BIGINT), CAST(6 AS BIGINT)], "turn"."dim" + 1) AS "shift",
  list_extract([CAST(31 AS BIGINT), CAST(1 AS BIGINT), CAST(15 AS BIGINT)], "turn"."dim" + 1) AS "mask"
FROM (
  SELECT "number" AS "region", "label", "best"['dim'] AS "dim", "best"['median'] AS "median"
  FROM (
    SELECT CAST(ROW_NUMBER() OVER () - 1 AS INT) AS "number", "label", "best"
    FROM (
      SELECT "label", MIN("best") AS "best"
      FROM "__sqlanon_candidates_1" AS "candidates"
      WHERE NOT "number" IN (SELECT "number" FROM "__sqlanon_failed_1" AS "failing")
      GROUP BY "label"
    ) AS "best_of_region"
  ) AS "candidate"
) AS "turn";
