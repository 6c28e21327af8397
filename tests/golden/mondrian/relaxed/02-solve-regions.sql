-- Look for: a draw for each point, made once; a region holds a list of labels, its bounds, and in `tried` a bit for
-- each dimension in which a cut has failed; regions and points that are not attempted any more are moved to those that
-- are done.

CREATE TEMPORARY TABLE "__sqlanon_points_1" AS
SELECT
  CAST(0 AS INT) AS "label",
  "key_0",
  "row",
  udf(0) AS "draw"
FROM (
  SELECT
    *,
    UNNEST(range("n")) AS "copy"
  FROM "__sqlanon_cells_1"
) AS "repeated";

CREATE TEMPORARY TABLE "__sqlanon_points_done_1" AS
SELECT
  CAST(0 AS BIGINT) AS "region",
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
  CAST(1 AS BIGINT) AS "n",
  "point"."row"
FROM "__sqlanon_points_1" AS "point"
WHERE
  FALSE;

CREATE TEMPORARY TABLE "__sqlanon_regions_1" AS
SELECT
  CAST(0 AS BIGINT) AS "region",
  [CAST(0 AS INT)] AS "labels",
  COUNT(*) AS "rows",
  CAST(0 AS BIGINT) AS "tried",
  CAST((
    MIN("key_0" & 31)
  ) AS INT) AS "low_0",
  CAST((
    MAX("key_0" & 31)
  ) AS INT) AS "high_0",
  CAST((
    MIN("key_0" & 32) >> 5
  ) AS INT) AS "low_1",
  CAST((
    MAX("key_0" & 32) >> 5
  ) AS INT) AS "high_1",
  CAST((
    MIN("key_0" & 960) >> 6
  ) AS INT) AS "low_2",
  CAST((
    MAX("key_0" & 960) >> 6
  ) AS INT) AS "high_2"
FROM "__sqlanon_points_1"
HAVING
  COUNT(*) > 0;

SELECT
  (
    SELECT
      COUNT(*)
    FROM "__sqlanon_regions_1"
  ),
  (
    SELECT
      COUNT(DISTINCT "region")
    FROM "__sqlanon_attempts_1"
  );

INSERT INTO "__sqlanon_regions_done_1"
SELECT
  "region" + $1 AS "region",
  "rows",
  "low_0",
  "high_0",
  "low_1",
  "high_1",
  "low_2",
  "high_2"
FROM "__sqlanon_regions_1"
WHERE
  NOT "region" IN (
    SELECT
      "region"
    FROM "__sqlanon_attempts_1"
  );

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
  CAST(1 AS BIGINT) AS "n",
  "point"."row"
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
