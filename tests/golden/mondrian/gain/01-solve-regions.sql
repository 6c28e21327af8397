-- Look for: the points of regions that are done, as before, without the column "row" of relaxed cuts.

INSERT INTO "__sqlanon_points_done_1"
SELECT
  "done"."region" + $1 AS "region",
  CAST((
    (
      "point"."key_0" & 31
    )
  ) AS INT) AS "r_0",
  CAST((
    (
      "point"."key_0" & 32
    ) >> 5
  ) AS INT) AS "r_1",
  CAST((
    (
      "point"."key_0" & 960
    ) >> 6
  ) AS INT) AS "r_2",
  CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_1" AS "point"
JOIN (
  SELECT
    "region",
    UNNEST("labels") AS "label"
  FROM "__sqlanon_regions_1"
  WHERE
    NOT "region" IN (
      SELECT
        "region"
      FROM "__sqlanon_attempts_1"
    )
) AS "done"
  ON "point"."label" = "done"."label";
