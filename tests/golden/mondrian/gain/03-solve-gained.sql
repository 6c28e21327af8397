-- Look for: for each region and dimension the cut with most gain; n log2 n as whole numbers of 2^-20, so that a sum
-- does not depend on its order; cuts with fewer than k rows on a side are left out before.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_gained_1" AS
SELECT
  "region",
  "dim",
  "value" AS "median",
  "gain",
  "width"
FROM (
  SELECT
    *,
    ROW_NUMBER() OVER (
      PARTITION BY "region", "dim"
      ORDER BY "gain" DESC NULLS LAST, "apart" ASC NULLS LAST, "lower" ASC NULLS LAST
    ) AS "rank"
  FROM (
    SELECT
      "region",
      "dim",
      "value",
      "width",
      "lower",
      CAST("information" - CASE
        WHEN (
          "lower"
        ) > 0
        THEN CAST(ROUND(
          CAST((
            "lower"
          ) AS DOUBLE) * LN(CAST((
            "lower"
          ) AS DOUBLE)) / CAST(0.6931471805599453 AS DOUBLE) * CAST(1048576.0 AS DOUBLE)
        ) AS INT128)
        ELSE CAST(0 AS INT128)
      END - CASE
        WHEN (
          (
            "rows" - "lower"
          )
        ) > 0
        THEN CAST(ROUND(
          CAST((
            (
              "rows" - "lower"
            )
          ) AS DOUBLE) * LN(CAST((
            (
              "rows" - "lower"
            )
          ) AS DOUBLE)) / CAST(0.6931471805599453 AS DOUBLE) * CAST(1048576.0 AS DOUBLE)
        ) AS INT128)
        ELSE CAST(0 AS INT128)
      END AS INT128) AS "gain",
      ABS((
        "rows" - "lower"
      ) - "lower") AS "apart"
    FROM (
      SELECT
        "region",
        "dim",
        "value",
        "width",
        SUM("added") OVER (PARTITION BY "region", "dim" ORDER BY "value" ASC NULLS LAST) AS "information",
        SUM("n") OVER (PARTITION BY "region", "dim" ORDER BY "value" ASC NULLS LAST) AS "lower",
        SUM("n") OVER (PARTITION BY "region", "dim") AS "rows"
      FROM (
        SELECT
          "region",
          "dim",
          "value",
          MAX("width") AS "width",
          SUM(
            CASE
              WHEN (
                "below"
              ) > 0
              THEN CAST(ROUND(
                CAST((
                  "below"
                ) AS DOUBLE) * LN(CAST((
                  "below"
                ) AS DOUBLE)) / CAST(0.6931471805599453 AS DOUBLE) * CAST(1048576.0 AS DOUBLE)
              ) AS INT128)
              ELSE CAST(0 AS INT128)
            END - CASE
              WHEN (
                (
                  "below" - "n"
                )
              ) > 0
              THEN CAST(ROUND(
                CAST((
                  (
                    "below" - "n"
                  )
                ) AS DOUBLE) * LN(CAST((
                  (
                    "below" - "n"
                  )
                ) AS DOUBLE)) / CAST(0.6931471805599453 AS DOUBLE) * CAST(1048576.0 AS DOUBLE)
              ) AS INT128)
              ELSE CAST(0 AS INT128)
            END + CASE
              WHEN (
                (
                  "whole" - "below"
                )
              ) > 0
              THEN CAST(ROUND(
                CAST((
                  (
                    "whole" - "below"
                  )
                ) AS DOUBLE) * LN(CAST((
                  (
                    "whole" - "below"
                  )
                ) AS DOUBLE)) / CAST(0.6931471805599453 AS DOUBLE) * CAST(1048576.0 AS DOUBLE)
              ) AS INT128)
              ELSE CAST(0 AS INT128)
            END - CASE
              WHEN (
                (
                  (
                    "whole" - "below"
                  ) + "n"
                )
              ) > 0
              THEN CAST(ROUND(
                CAST((
                  (
                    (
                      "whole" - "below"
                    ) + "n"
                  )
                ) AS DOUBLE) * LN(CAST((
                  (
                    (
                      "whole" - "below"
                    ) + "n"
                  )
                ) AS DOUBLE)) / CAST(0.6931471805599453 AS DOUBLE) * CAST(1048576.0 AS DOUBLE)
              ) AS INT128)
              ELSE CAST(0 AS INT128)
            END
          ) AS "added",
          SUM("n") AS "n"
        FROM (
          SELECT
            *,
            SUM("n") OVER (PARTITION BY "region", "dim", "target" ORDER BY "value" ASC NULLS LAST) AS "below",
            SUM("n") OVER (PARTITION BY "region", "dim", "target") AS "whole"
          FROM (
            SELECT
              "turn"."region" AS "region",
              "turn"."width" AS "width",
              CAST((
                (
                  "point"."key_0" & 31
                )
              ) AS INT) AS "value",
              (
                (
                  "point"."key_0" & 15360
                ) >> 10
              ) AS "target",
              CAST(0 AS INT) AS "dim",
              SUM(CAST(1 AS BIGINT)) AS "n"
            FROM "__sqlanon_points_1" AS "point"
            JOIN (
              SELECT
                "region",
                UNNEST("labels") AS "label",
                "width_0" AS "width",
                "low_0",
                "high_0"
              FROM (
                SELECT
                  "region".*,
                  CASE
                    WHEN "region"."rows" >= 6
                    AND "region"."high_0" > "region"."low_0"
                    AND (
                      "region"."tried" & 1
                    ) = 0
                    THEN CAST(1.0 AS DOUBLE) * (
                      (
                        "last_0"."position" - "first_0"."position"
                      ) / CAST(6828.0 AS DOUBLE)
                    )
                  END AS "width_0",
                  CASE
                    WHEN "region"."rows" >= 6
                    AND "region"."high_1" > "region"."low_1"
                    AND (
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
                    WHEN "region"."rows" >= 6
                    AND "region"."high_2" > "region"."low_2"
                    AND (
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
              ) AS "wide"
              WHERE
                NOT "width_0" IS NULL
            ) AS "turn"
              ON "point"."label" = "turn"."label"
            GROUP BY
              "turn"."region",
              "turn"."width",
              CAST((
                (
                  "point"."key_0" & 31
                )
              ) AS INT),
              (
                (
                  "point"."key_0" & 15360
                ) >> 10
              )
            UNION ALL
            SELECT
              "turn"."region" AS "region",
              "turn"."width" AS "width",
              CAST((
                (
                  "point"."key_0" & 32
                ) >> 5
              ) AS INT) AS "value",
              (
                (
                  "point"."key_0" & 15360
                ) >> 10
              ) AS "target",
              CAST(1 AS INT) AS "dim",
              SUM(CAST(1 AS BIGINT)) AS "n"
            FROM "__sqlanon_points_1" AS "point"
            JOIN (
              SELECT
                "region",
                UNNEST("labels") AS "label",
                "width_1" AS "width",
                "low_1",
                "high_1"
              FROM (
                SELECT
                  "region".*,
                  CASE
                    WHEN "region"."rows" >= 6
                    AND "region"."high_0" > "region"."low_0"
                    AND (
                      "region"."tried" & 1
                    ) = 0
                    THEN CAST(1.0 AS DOUBLE) * (
                      (
                        "last_0"."position" - "first_0"."position"
                      ) / CAST(6828.0 AS DOUBLE)
                    )
                  END AS "width_0",
                  CASE
                    WHEN "region"."rows" >= 6
                    AND "region"."high_1" > "region"."low_1"
                    AND (
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
                    WHEN "region"."rows" >= 6
                    AND "region"."high_2" > "region"."low_2"
                    AND (
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
              ) AS "wide"
              WHERE
                NOT "width_1" IS NULL
            ) AS "turn"
              ON "point"."label" = "turn"."label"
            GROUP BY
              "turn"."region",
              "turn"."width",
              CAST((
                (
                  "point"."key_0" & 32
                ) >> 5
              ) AS INT),
              (
                (
                  "point"."key_0" & 15360
                ) >> 10
              )
            UNION ALL
            SELECT
              "turn"."region" AS "region",
              "turn"."width" AS "width",
              CAST((
                (
                  "point"."key_0" & 960
                ) >> 6
              ) AS INT) AS "value",
              (
                (
                  "point"."key_0" & 15360
                ) >> 10
              ) AS "target",
              CAST(2 AS INT) AS "dim",
              SUM(CAST(1 AS BIGINT)) AS "n"
            FROM "__sqlanon_points_1" AS "point"
            JOIN (
              SELECT
                "region",
                UNNEST("labels") AS "label",
                "width_2" AS "width",
                "low_2",
                "high_2"
              FROM (
                SELECT
                  "region".*,
                  CASE
                    WHEN "region"."rows" >= 6
                    AND "region"."high_0" > "region"."low_0"
                    AND (
                      "region"."tried" & 1
                    ) = 0
                    THEN CAST(1.0 AS DOUBLE) * (
                      (
                        "last_0"."position" - "first_0"."position"
                      ) / CAST(6828.0 AS DOUBLE)
                    )
                  END AS "width_0",
                  CASE
                    WHEN "region"."rows" >= 6
                    AND "region"."high_1" > "region"."low_1"
                    AND (
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
                    WHEN "region"."rows" >= 6
                    AND "region"."high_2" > "region"."low_2"
                    AND (
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
              ) AS "wide"
              WHERE
                NOT "width_2" IS NULL
            ) AS "turn"
              ON "point"."label" = "turn"."label"
            GROUP BY
              "turn"."region",
              "turn"."width",
              CAST((
                (
                  "point"."key_0" & 960
                ) >> 6
              ) AS INT),
              (
                (
                  "point"."key_0" & 15360
                ) >> 10
              )
          ) AS "counted"
        ) AS "by_target"
        GROUP BY
          "region",
          "dim",
          "value"
      ) AS "by_value"
    ) AS "running"
    WHERE
      "lower" >= 3 AND (
        "rows" - "lower"
      ) >= 3
  ) AS "possible"
) AS "ranked"
WHERE
  "rank" = 1;
