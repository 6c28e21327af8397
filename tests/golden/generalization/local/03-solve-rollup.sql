-- Look for: the search of each round, here with its mask of five bits; the second round's runs over other cells, by
-- the same text.

CREATE TEMPORARY TABLE "__sqlanon_rollup_1" AS
WITH "first_rows" AS (
  SELECT
    CAST(0 AS BIGINT) AS "tag",
    (
      "key_0" & 31
    ) AS "key_0",
    CAST(SUM("n") AS BIGINT) AS "n"
  FROM "__sqlanon_cells_1"
  GROUP BY
    (
      "key_0" & 31
    )
)
SELECT
  *
FROM "first_rows"
UNION ALL
SELECT
  "node"."tag",
  (
    "fine"."key_0" & "node"."mask_0"
  ) AS "key_0",
  CAST(SUM("fine"."n") AS BIGINT) AS "n"
FROM "first_rows" AS "fine"
JOIN (
  SELECT
    UNNEST(CAST($1 AS BIGINT[])) AS "tag",
    UNNEST(CAST($2 AS BIGINT[])) AS "source",
    UNNEST(CAST($3 AS BIGINT[])) AS "mask_0"
) AS "node"
  ON "fine"."tag" = "node"."source"
GROUP BY
  "node"."tag",
  (
    "fine"."key_0" & "node"."mask_0"
  );

WITH "node_row" AS (
  SELECT
    "tag" - $1 AS "tag",
    *
    EXCLUDE ("tag")
  FROM "__sqlanon_rollup_1"
  WHERE
    "tag" BETWEEN $1 AND $2
), "equivalence_class" AS (
  SELECT
    (
      "tag" << 5
    ) + "key_0" AS "class_id",
    "n" AS "size",
    "n" AS "entities"
  FROM "node_row"
)
SELECT
  COALESCE("all_classes"."index", "broken"."index"),
  COALESCE("all_classes"."classes", 0),
  COALESCE("all_classes"."squares", 0),
  COALESCE("broken"."size", 0),
  COALESCE("broken"."excess", 0),
  COALESCE("node_rows"."rows", 0),
  COALESCE("broken"."violating", 0)
FROM (
  SELECT
    "class_id" >> 5 AS "index",
    COUNT(*) AS "classes",
    SUM("size" * "size") AS "squares"
  FROM "equivalence_class"
  GROUP BY
    "class_id" >> 5
) AS "all_classes"
FULL JOIN (
  SELECT
    "class_id" >> 5 AS "index",
    SUM("size") AS "size",
    SUM("excess") AS "excess",
    COUNT(*) AS "violating"
  FROM (
    SELECT
      "class_id",
      "size",
      CAST("size" AS DOUBLE) AS "excess"
    FROM "equivalence_class"
    WHERE
      "entities" < 2
  ) AS "violation"
  GROUP BY
    "class_id" >> 5
) AS "broken"
  ON "all_classes"."index" = "broken"."index"
LEFT JOIN (
  SELECT
    "tag",
    COUNT(*) AS "rows"
  FROM "node_row"
  GROUP BY
    "tag"
) AS "node_rows"
  ON "node_rows"."tag" = COALESCE("all_classes"."index", "broken"."index");

WITH "node_row" AS (
  SELECT
    "node"."index" AS "tag",
    "fine".*
    EXCLUDE ("tag")
  FROM "__sqlanon_rollup_1" AS "fine"
  JOIN (
    SELECT
      UNNEST(CAST($1 AS BIGINT[])) AS "of",
      UNNEST(CAST($2 AS BIGINT[])) AS "index"
  ) AS "node"
    ON "fine"."tag" = "node"."of"
), "equivalence_class" AS (
  SELECT
    (
      "tag" << 5
    ) + "key_0" AS "class_id",
    "n" AS "size",
    "n" AS "entities"
  FROM "node_row"
), "withheld" AS (
  SELECT
    "class_id" >> 5 AS "index",
    "class_id",
    "size"
  FROM (
    SELECT
      "class_id",
      "size",
      CAST("size" AS DOUBLE) AS "excess"
    FROM "equivalence_class"
    WHERE
      "entities" < 2
  ) AS "violation"
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
    UNNEST(CAST($3 AS BIGINT[])) AS "index",
    UNNEST(CAST($4 AS BIGINT[])) AS "attribute",
    UNNEST(CAST($5 AS BIGINT[])) AS "level",
    UNNEST(CAST($6 AS BIGINT[])) AS "mask_0"
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
