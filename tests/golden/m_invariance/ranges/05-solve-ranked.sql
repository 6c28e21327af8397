-- Look for: counts of values between the ends of each bucket's ranges; no value itself leaves this query.

SELECT
  CAST(SUM("region"."rows") AS INT128),
  (
    SELECT
      SUM("leaf") - 1
    FROM "__sqlanon_ranked_1"
  ),
  (
    SELECT
      SUM("leaf") - 1
    FROM "__sqlanon_ranked_2"
  ),
  (
    SELECT
      SUM("leaf") - 1
    FROM "__sqlanon_ranked_3"
  ),
  CAST(COALESCE(
    SUM(
      "region"."rows" * COALESCE(
        (
          "known"."most_0" - "known"."least_0"
        ) + CASE WHEN "known"."with_null_0" THEN 1 ELSE 0 END,
        0
      )
    ),
    0
  ) AS INT128),
  CAST(COALESCE(
    SUM(
      "region"."rows" * COALESCE(
        (
          "known"."most_1" - "known"."least_1"
        ) + CASE WHEN "known"."with_null_1" THEN 1 ELSE 0 END,
        0
      )
    ),
    0
  ) AS INT128),
  CAST(COALESCE(
    SUM(
      "region"."rows" * COALESCE(
        (
          "known"."most_2" - "known"."least_2"
        ) + CASE WHEN "known"."with_null_2" THEN 1 ELSE 0 END,
        0
      )
    ),
    0
  ) AS INT128)
FROM "__sqlanon_regions_1" AS "region"
JOIN (
  SELECT
    "point"."region",
    MIN(
      CASE
        WHEN NOT (
          "point"."r_0" = COALESCE(
            (
              SELECT
                MAX("rank_0")
              FROM "__sqlanon_ranked_1"
              WHERE
                "value" IS NULL
            ),
            -1
          )
        )
        THEN "point"."r_0"
      END
    ) AS "least_0",
    MAX(
      CASE
        WHEN NOT (
          "point"."r_0" = COALESCE(
            (
              SELECT
                MAX("rank_0")
              FROM "__sqlanon_ranked_1"
              WHERE
                "value" IS NULL
            ),
            -1
          )
        )
        THEN "point"."r_0"
      END
    ) AS "most_0",
    BOOL_OR(
      CAST("point"."r_0" = COALESCE(
        (
          SELECT
            MAX("rank_0")
          FROM "__sqlanon_ranked_1"
          WHERE
            "value" IS NULL
        ),
        -1
      ) AS BOOLEAN)
    ) AS "with_null_0",
    MIN(
      CASE
        WHEN NOT (
          "point"."r_1" = COALESCE(
            (
              SELECT
                MAX("rank_0")
              FROM "__sqlanon_ranked_2"
              WHERE
                "value" IS NULL
            ),
            -1
          )
        )
        THEN "point"."r_1"
      END
    ) AS "least_1",
    MAX(
      CASE
        WHEN NOT (
          "point"."r_1" = COALESCE(
            (
              SELECT
                MAX("rank_0")
              FROM "__sqlanon_ranked_2"
              WHERE
                "value" IS NULL
            ),
            -1
          )
        )
        THEN "point"."r_1"
      END
    ) AS "most_1",
    BOOL_OR(
      CAST("point"."r_1" = COALESCE(
        (
          SELECT
            MAX("rank_0")
          FROM "__sqlanon_ranked_2"
          WHERE
            "value" IS NULL
        ),
        -1
      ) AS BOOLEAN)
    ) AS "with_null_1",
    MIN(
      CASE
        WHEN NOT (
          "point"."r_2" = COALESCE(
            (
              SELECT
                MAX("rank_0")
              FROM "__sqlanon_ranked_3"
              WHERE
                "value" IS NULL
            ),
            -1
          )
        )
        THEN "point"."r_2"
      END
    ) AS "least_2",
    MAX(
      CASE
        WHEN NOT (
          "point"."r_2" = COALESCE(
            (
              SELECT
                MAX("rank_0")
              FROM "__sqlanon_ranked_3"
              WHERE
                "value" IS NULL
            ),
            -1
          )
        )
        THEN "point"."r_2"
      END
    ) AS "most_2",
    BOOL_OR(
      CAST("point"."r_2" = COALESCE(
        (
          SELECT
            MAX("rank_0")
          FROM "__sqlanon_ranked_3"
          WHERE
            "value" IS NULL
        ),
        -1
      ) AS BOOLEAN)
    ) AS "with_null_2"
  FROM "__sqlanon_points_1" AS "point"
  GROUP BY
    "point"."region"
) AS "known"
  ON "region"."region" = "known"."region";
