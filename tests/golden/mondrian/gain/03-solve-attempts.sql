-- Look for: the dimension of most gain, then of most width, then the first; SIGN puts points below, at and above the
-- cut's value into three parts.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_attempts_1" AS
SELECT
  UNNEST("turn"."labels") AS "label",
  "turn"."region",
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
    "region"."region",
    "region"."labels",
    "region"."low_0",
    "region"."high_0",
    "region"."low_1",
    "region"."high_1",
    "region"."low_2",
    "region"."high_2",
    "ranked"."dim",
    "ranked"."median"
  FROM "__sqlanon_regions_1" AS "region"
  JOIN (
    SELECT
      *,
      ROW_NUMBER() OVER (
        PARTITION BY "region"
        ORDER BY "gain" DESC NULLS LAST, "width" DESC NULLS LAST, "dim" ASC NULLS LAST
      ) AS "rank"
    FROM "__sqlanon_gained_1"
  ) AS "ranked"
    ON "region"."region" = "ranked"."region" AND "ranked"."rank" = 1
) AS "turn";

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_medians_1" AS
SELECT DISTINCT
  "region",
  "median"
FROM "__sqlanon_attempts_1";

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_sides_1" AS
SELECT
  CAST((
    (
      "attempt"."region" * 3
    ) + SIGN(
      (
        CAST((
          (
            "point"."key_0" >> "attempt"."shift"
          ) & "attempt"."mask"
        ) AS INT) - "middle"."median"
      )
    ) + 1
  ) AS INT) AS "label",
  "point"."key_0"
FROM "__sqlanon_points_1" AS "point"
JOIN "__sqlanon_attempts_1" AS "attempt"
  ON "point"."label" = "attempt"."label"
JOIN "__sqlanon_medians_1" AS "middle"
  ON "attempt"."region" = "middle"."region";
