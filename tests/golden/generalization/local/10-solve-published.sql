-- Look for: the cells of each round without those withheld, by the class that is shown; the second kind of query is
-- the loss, of each round at its own levels.

CREATE TEMPORARY TABLE "__sqlanon_published_1" AS
SELECT
  "cell"."key_0",
  "cell"."n"
FROM "__sqlanon_round_cells_1" AS "cell"
WHERE
  "cell"."round" = 1
  AND NOT EXISTS(
    SELECT
      1
    FROM "__sqlanon_withheld_1" AS "gone"
    WHERE
      (
        "cell"."class_0" & 127
      ) = "gone"."key_0"
  );

CREATE TEMPORARY TABLE "__sqlanon_published_2" AS
SELECT
  "cell"."key_0",
  "cell"."n"
FROM "__sqlanon_round_cells_1" AS "cell"
WHERE
  "cell"."round" = 2
  AND NOT EXISTS(
    SELECT
      1
    FROM "__sqlanon_withheld_1" AS "gone"
    WHERE
      (
        "cell"."class_0" & 127
      ) = "gone"."key_0"
  );

SELECT
  COALESCE(SUM("n"), 0)
FROM "__sqlanon_published_1";

WITH "withheld" AS (
  SELECT
    "tag" AS "index",
    (
      "tag" << 5
    ) + "key_0" AS "class_id",
    CAST(SUM("n") AS BIGINT) AS "size"
  FROM (
    SELECT
      CAST(1 AS BIGINT) AS "tag",
      (
        "key_0" & 31
      ) AS "key_0",
      "n"
    FROM "__sqlanon_published_1"
    UNION ALL
    SELECT
      CAST(2 AS BIGINT) AS "tag",
      (
        "key_0" & 31
      ) AS "key_0",
      "n"
    FROM "__sqlanon_published_1"
  ) AS "node_row"
  GROUP BY
    "tag",
    (
      "tag" << 5
    ) + "key_0"
)
SELECT
  "node"."index",
  CAST(COALESCE(SUM(CASE WHEN "node"."attribute" = -1 THEN "withheld"."size" END), 0) AS INT128) AS "withheld",
  CAST(COALESCE(
    SUM(CASE WHEN "node"."attribute" = 0 THEN "withheld"."size" * "leaves"."others" END),
    0
  ) AS INT128) AS "sum_0",
  CAST(COALESCE(
    SUM(CASE WHEN "node"."attribute" = 1 THEN "withheld"."size" * "leaves"."others" END),
    0
  ) AS INT128) AS "sum_1"
FROM (
  SELECT
    UNNEST(CAST($1 AS BIGINT[])) AS "index",
    UNNEST(CAST($2 AS BIGINT[])) AS "attribute",
    UNNEST(CAST($3 AS BIGINT[])) AS "level",
    UNNEST(CAST($4 AS BIGINT[])) AS "mask_0"
) AS "node"
LEFT JOIN "withheld"
  ON "withheld"."index" = "node"."index"
LEFT JOIN (
  SELECT DISTINCT
    UNNEST(CAST([1, 1, 1] AS BIGINT[])) AS "attribute",
    UNNEST(CAST([1, 2, 3] AS BIGINT[])) AS "level",
    UNNEST(CAST([0 + (
        "rank_1" << 4
    ), 0, 0] AS BIGINT[])) AS "part_0",
    UNNEST(CAST(["leaves_1" - 1, "leaves_2" - 1, "leaves_3" - 1] AS BIGINT[])) AS "others"
  FROM "__sqlanon_tree_2"
  UNION ALL
  SELECT
    UNNEST(CAST([0, 1] AS BIGINT[])) AS "attribute",
    UNNEST(CAST([1, 4] AS BIGINT[])) AS "level",
    UNNEST(CAST([0, 0] AS BIGINT[])) AS "part_0",
    UNNEST(CAST([1, 13] AS BIGINT[])) AS "others"
) AS "leaves"
  ON "leaves"."attribute" = "node"."attribute"
  AND "leaves"."level" = "node"."level"
  AND (
    (
      "withheld"."class_id"
    ) & "node"."mask_0"
  ) = "leaves"."part_0"
GROUP BY
  "node"."index";

WITH "withheld" AS (
  SELECT
    "tag" AS "index",
    (
      "tag" << 5
    ) + "key_0" AS "class_id",
    CAST(SUM("n") AS BIGINT) AS "size"
  FROM (
    SELECT
      CAST(1 AS BIGINT) AS "tag",
      (
        "key_0" & 17
      ) AS "key_0",
      "n"
    FROM "__sqlanon_published_2"
    UNION ALL
    SELECT
      CAST(2 AS BIGINT) AS "tag",
      (
        "key_0" & 31
      ) AS "key_0",
      "n"
    FROM "__sqlanon_published_2"
  ) AS "node_row"
  GROUP BY
    "tag",
    (
      "tag" << 5
    ) + "key_0"
)
SELECT
  "node"."index",
  CAST(COALESCE(SUM(CASE WHEN "node"."attribute" = -1 THEN "withheld"."size" END), 0) AS INT128) AS "withheld",
  CAST(COALESCE(
    SUM(CASE WHEN "node"."attribute" = 0 THEN "withheld"."size" * "leaves"."others" END),
    0
  ) AS INT128) AS "sum_0",
  CAST(COALESCE(
    SUM(CASE WHEN "node"."attribute" = 1 THEN "withheld"."size" * "leaves"."others" END),
    0
  ) AS INT128) AS "sum_1"
FROM (
  SELECT
    UNNEST(CAST($1 AS BIGINT[])) AS "index",
    UNNEST(CAST($2 AS BIGINT[])) AS "attribute",
    UNNEST(CAST($3 AS BIGINT[])) AS "level",
    UNNEST(CAST($4 AS BIGINT[])) AS "mask_0"
) AS "node"
LEFT JOIN "withheld"
  ON "withheld"."index" = "node"."index"
LEFT JOIN (
  SELECT DISTINCT
    UNNEST(CAST([1, 1, 1] AS BIGINT[])) AS "attribute",
    UNNEST(CAST([1, 2, 3] AS BIGINT[])) AS "level",
    UNNEST(CAST([0 + (
        "rank_1" << 4
    ), 0, 0] AS BIGINT[])) AS "part_0",
    UNNEST(CAST(["leaves_1" - 1, "leaves_2" - 1, "leaves_3" - 1] AS BIGINT[])) AS "others"
  FROM "__sqlanon_tree_2"
  UNION ALL
  SELECT
    UNNEST(CAST([0, 1] AS BIGINT[])) AS "attribute",
    UNNEST(CAST([1, 4] AS BIGINT[])) AS "level",
    UNNEST(CAST([0, 0] AS BIGINT[])) AS "part_0",
    UNNEST(CAST([1, 13] AS BIGINT[])) AS "others"
) AS "leaves"
  ON "leaves"."attribute" = "node"."attribute"
  AND "leaves"."level" = "node"."level"
  AND (
    (
      "withheld"."class_id"
    ) & "node"."mask_0"
  ) = "leaves"."part_0"
GROUP BY
  "node"."index";
