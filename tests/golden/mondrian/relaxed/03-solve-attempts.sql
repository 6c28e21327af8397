-- Look for: one dimension a region, the widest that has not been tried, of regions with 2k rows only; rows halved by
-- number: ties by the other dimensions, then by the draw, never by the order in which the source lies.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_attempts_1" AS
SELECT
  UNNEST("turn"."labels") AS "label",
  "turn"."region",
  "turn"."dim",
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
    "region",
    "labels",
    "low_0",
    "high_0",
    "low_1",
    "high_1",
    "low_2",
    "high_2",
    CAST(CASE
      WHEN "width_0" = "widest"
      THEN 0
      WHEN "width_1" = "widest"
      THEN 1
      WHEN "width_2" = "widest"
      THEN 2
    END AS INT) AS "dim"
  FROM (
    SELECT
      *,
      GREATEST("width_0", "width_1", "width_2") AS "widest"
    FROM (
      SELECT
        "region".*,
        CASE
          WHEN "region"."high_0" > "region"."low_0" AND (
            "region"."tried" & 1
          ) = 0
          THEN CAST(1.0 AS DOUBLE) * (
            (
              "last_0"."position" - "first_0"."position"
            ) / CAST(6828.0 AS DOUBLE)
          )
        END AS "width_0",
        CASE
          WHEN "region"."high_1" > "region"."low_1" AND (
            "region"."tried" & 2
          ) = 0
          THEN CAST(1.0 AS DOUBLE) * (
            CAST((
              (
                "region"."high_1" - "region"."low_1"
              ) + 1
            ) AS DOUBLE) / CAST(2.0 AS DOUBLE)
          )
        END AS "width_1",
        CASE
          WHEN "region"."high_2" > "region"."low_2" AND (
            "region"."tried" & 4
          ) = 0
          THEN CAST(1.0 AS DOUBLE) * (
            CAST((
              (
                "region"."high_2" - "region"."low_2"
              ) + 1
            ) AS DOUBLE) / CAST(14.0 AS DOUBLE)
          )
        END AS "width_2"
      FROM "__sqlanon_regions_1" AS "region"
      JOIN "__sqlanon_ranked_1" AS "first_0"
        ON "first_0"."rank_0" = "region"."low_0"
      JOIN "__sqlanon_ranked_1" AS "last_0"
        ON "last_0"."rank_0" = "region"."high_0"
      WHERE
        "region"."rows" >= 6
    ) AS "width"
  ) AS "most"
  WHERE
    NOT "widest" IS NULL
) AS "turn";

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_sides_1" AS
SELECT
  CAST((
    (
      "attempt"."region" * 3
    ) + CASE
      WHEN ROW_NUMBER() OVER (
        PARTITION BY "attempt"."region"
        ORDER BY CAST((
          (
            "point"."key_0" >> "attempt"."shift"
          ) & "attempt"."mask"
        ) AS INT) ASC NULLS LAST, CAST((
          (
            "point"."key_0" & 31
          )
        ) AS INT) ASC NULLS LAST, CAST((
          (
            "point"."key_0" & 32
          ) >> 5
        ) AS INT) ASC NULLS LAST, CAST((
          (
            "point"."key_0" & 960
          ) >> 6
        ) AS INT) ASC NULLS LAST, "point"."draw" ASC NULLS LAST
      ) <= COUNT(*) OVER (PARTITION BY "attempt"."region") // 2
      THEN 0
      ELSE 2
    END
  ) AS INT) AS "label",
  "point"."key_0",
  "point"."row",
  "point"."draw"
FROM "__sqlanon_points_1" AS "point"
JOIN "__sqlanon_attempts_1" AS "attempt"
  ON "point"."label" = "attempt"."label";

ALTER TABLE "__sqlanon_sides_1" RENAME TO "__sqlanon_points_1";
