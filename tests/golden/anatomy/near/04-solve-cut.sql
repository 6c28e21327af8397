-- Look for: the best cut of each region among those that are not broken.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_cut_1" AS
SELECT
  "turn"."region",
  "turn"."label",
  "turn"."dim",
  "turn"."median",
  CAST(CASE
    WHEN "turn"."dim" = 0
    THEN 0
    WHEN "turn"."dim" = 1
    THEN 0
    WHEN "turn"."dim" = 2
    THEN 0
  END AS BIGINT) AS "word",
  CAST(CASE
    WHEN "turn"."dim" = 0
    THEN 0
    WHEN "turn"."dim" = 1
    THEN 5
    WHEN "turn"."dim" = 2
    THEN 6
  END AS BIGINT) AS "shift",
  CAST(CASE
    WHEN "turn"."dim" = 0
    THEN 31
    WHEN "turn"."dim" = 1
    THEN 1
    WHEN "turn"."dim" = 2
    THEN 15
  END AS BIGINT) AS "mask"
FROM (
  SELECT
    CAST(ROW_NUMBER() OVER () - 1 AS INT) AS "region",
    "label",
    STRUCT_EXTRACT("best", 'dim') AS "dim",
    STRUCT_EXTRACT("best", 'median') AS "median"
  FROM (
    SELECT
      "candidate"."label",
      MIN("candidate"."best") AS "best"
    FROM "__sqlanon_candidates_1" AS "candidate"
    WHERE
      NOT "candidate"."number" IN (
        SELECT
          "number"
        FROM "__sqlanon_failed_1"
      )
    GROUP BY
      "candidate"."label"
  ) AS "best_of_region"
) AS "turn";
