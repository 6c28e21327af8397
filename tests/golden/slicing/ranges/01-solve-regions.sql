-- Look for: after the buckets, the points again: with the ranks of one column alone.

CREATE TEMPORARY TABLE "__sqlanon_regions_done_2" AS
SELECT
  CAST(0 AS BIGINT) AS "region",
  CAST(0 AS BIGINT) AS "rows",
  CAST(0 AS INT) AS "low_0",
  CAST(0 AS INT) AS "high_0",
  CAST(0 AS INT) AS "low_1",
  CAST(0 AS INT) AS "high_1"
WHERE
  FALSE;

CREATE TEMPORARY TABLE "__sqlanon_points_done_2" AS
SELECT
  CAST(0 AS BIGINT) AS "region",
  CAST((
    (
      "point"."key_0" & 31
    )
  ) AS INT) AS "r_0",
  CAST((
    (
      "point"."key_0" & 960
    ) >> 6
  ) AS INT) AS "r_1",
  CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_2" AS "point"
WHERE
  FALSE;

INSERT INTO "__sqlanon_points_done_2"
SELECT
  CAST("point"."label" AS BIGINT) + $1 AS "region",
  CAST((
    (
      "point"."key_0" & 31
    )
  ) AS INT) AS "r_0",
  CAST((
    (
      "point"."key_0" & 960
    ) >> 6
  ) AS INT) AS "r_1",
  CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_2" AS "point"
WHERE
  NOT "point"."label" IN (
    SELECT
      "label"
    FROM "__sqlanon_cut_2"
  );

INSERT INTO "__sqlanon_regions_done_2"
SELECT
  "region",
  CAST(SUM("n") AS BIGINT) AS "rows",
  MIN("r_0") AS "low_0",
  MAX("r_0") AS "high_0",
  MIN("r_1") AS "low_1",
  MAX("r_1") AS "high_1"
FROM "__sqlanon_points_done_2"
WHERE
  "region" >= $1
GROUP BY
  "region";

SELECT
  SUM(
    CAST("region"."rows" AS DOUBLE) * (
      CAST(1.0 AS DOUBLE) * (
        (
          "last_0"."position" - "first_0"."position"
        ) / CAST(6828.0 AS DOUBLE)
      )
    ) + CAST("region"."rows" AS DOUBLE) * (
      CAST(1.0 AS DOUBLE) * (
        (
          "last_1"."position" - "first_1"."position"
        ) / CAST(13.0 AS DOUBLE)
      )
    )
  ) / (
    SUM(CAST("region"."rows" AS DOUBLE)) * CAST(2.0 AS DOUBLE)
  )
FROM "__sqlanon_regions_done_2" AS "region"
JOIN "__sqlanon_ranked_1" AS "first_0"
  ON "first_0"."rank_0" = "region"."low_0"
JOIN "__sqlanon_ranked_1" AS "last_0"
  ON "last_0"."rank_0" = "region"."high_0"
JOIN "__sqlanon_ranked_3" AS "first_1"
  ON "first_1"."rank_0" = "region"."low_1"
JOIN "__sqlanon_ranked_3" AS "last_1"
  ON "last_1"."rank_0" = "region"."high_1";

CREATE TEMPORARY TABLE "__sqlanon_regions_done_3" AS
SELECT
  CAST(0 AS BIGINT) AS "region",
  CAST(0 AS BIGINT) AS "rows",
  CAST(0 AS INT) AS "low_0",
  CAST(0 AS INT) AS "high_0"
WHERE
  FALSE;

CREATE TEMPORARY TABLE "__sqlanon_points_done_3" AS
SELECT
  CAST(0 AS BIGINT) AS "region",
  CAST((
    (
      "point"."key_0" & 32
    ) >> 5
  ) AS INT) AS "r_0",
  CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_3" AS "point"
WHERE
  FALSE;

INSERT INTO "__sqlanon_points_done_3"
SELECT
  CAST("point"."label" AS BIGINT) + $1 AS "region",
  CAST((
    (
      "point"."key_0" & 32
    ) >> 5
  ) AS INT) AS "r_0",
  CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_3" AS "point"
WHERE
  NOT "point"."label" IN (
    SELECT
      "label"
    FROM "__sqlanon_cut_3"
  );

INSERT INTO "__sqlanon_regions_done_3"
SELECT
  "region",
  CAST(SUM("n") AS BIGINT) AS "rows",
  MIN("r_0") AS "low_0",
  MAX("r_0") AS "high_0"
FROM "__sqlanon_points_done_3"
WHERE
  "region" >= $1
GROUP BY
  "region";

SELECT
  SUM(
    CAST("region"."rows" AS DOUBLE) * (
      CAST(1.0 AS DOUBLE) * (
        (
          "last_0"."position" - "first_0"."position"
        ) / CAST(1.0 AS DOUBLE)
      )
    )
  ) / (
    SUM(CAST("region"."rows" AS DOUBLE)) * CAST(1.0 AS DOUBLE)
  )
FROM "__sqlanon_regions_done_3" AS "region"
JOIN "__sqlanon_ranked_2" AS "first_0"
  ON "first_0"."rank_0" = "region"."low_0"
JOIN "__sqlanon_ranked_2" AS "last_0"
  ON "last_0"."rank_0" = "region"."high_0";
