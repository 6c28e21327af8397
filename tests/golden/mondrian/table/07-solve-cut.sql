-- Look for: the best cut of each region with its field's shift and mask; halves labelled by > median, so that equal
-- values stay together; what is not cut has no row here; the halves become the points of the next attempt.

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
    GROUP BY
      "candidate"."label"
  ) AS "best_of_region"
) AS "turn";

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_halves_1" AS
SELECT
  CAST((
    (
      "attempt"."region" * 2
    ) + CASE
      WHEN CAST((
        (
          "point"."key_0" >> "attempt"."shift"
        ) & "attempt"."mask"
      ) AS INT) > "attempt"."median"
      THEN 1
      ELSE 0
    END
  ) AS INT) AS "label",
  "point"."key_0"
FROM "__sqlanon_points_1" AS "point"
JOIN "__sqlanon_cut_1" AS "attempt"
  ON "point"."label" = "attempt"."label";

ALTER TABLE "__sqlanon_halves_1" RENAME TO "__sqlanon_points_1";
