-- Look for: the ranks of people alone: a counterfeit has no row to join.

CREATE TEMPORARY TABLE "__sqlanon_points_1" AS
SELECT
  "dealt"."bucket" AS "region",
  "row"."r_0",
  "row"."r_1",
  "row"."r_2"
FROM "__sqlanon_source_row_1" AS "row"
JOIN "__sqlanon_in_bucket_1" AS "dealt"
  ON "row"."row_no" = "dealt"."row_no";

CREATE TEMPORARY TABLE "__sqlanon_regions_1" AS
SELECT
  "region",
  COUNT(*) AS "rows",
  MIN("r_0") AS "low_0",
  MAX("r_0") AS "high_0",
  MIN("r_1") AS "low_1",
  MAX("r_1") AS "high_1",
  MIN("r_2") AS "low_2",
  MAX("r_2") AS "high_2"
FROM "__sqlanon_points_1"
GROUP BY
  "region";

SELECT
  SUM(
    CAST("region"."rows" AS DOUBLE) * (
      CAST(1.0 AS DOUBLE) * (
        (
          "last_0"."position" - "first_0"."position"
        ) / CAST(3732.0 AS DOUBLE)
      )
    ) + CAST("region"."rows" AS DOUBLE) * (
      CAST(1.0 AS DOUBLE) * (
        (
          "last_1"."position" - "first_1"."position"
        ) / CAST(1.0 AS DOUBLE)
      )
    ) + CAST("region"."rows" AS DOUBLE) * (
      CAST(1.0 AS DOUBLE) * (
        (
          "last_2"."position" - "first_2"."position"
        ) / CAST(6.0 AS DOUBLE)
      )
    )
  ) / (
    SUM(CAST("region"."rows" AS DOUBLE)) * CAST(3.0 AS DOUBLE)
  )
FROM "__sqlanon_regions_1" AS "region"
JOIN "__sqlanon_ranked_1" AS "first_0"
  ON "first_0"."rank_0" = "region"."low_0"
JOIN "__sqlanon_ranked_1" AS "last_0"
  ON "last_0"."rank_0" = "region"."high_0"
JOIN "__sqlanon_ranked_2" AS "first_1"
  ON "first_1"."rank_0" = "region"."low_1"
JOIN "__sqlanon_ranked_2" AS "last_1"
  ON "last_1"."rank_0" = "region"."high_1"
JOIN "__sqlanon_ranked_3" AS "first_2"
  ON "first_2"."rank_0" = "region"."low_2"
JOIN "__sqlanon_ranked_3" AS "last_2"
  ON "last_2"."rank_0" = "region"."high_2";
