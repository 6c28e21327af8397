-- Look for: class_sensitive_value_0 from the key's upper bits, and equivalence_class summed from it; both
-- requirements' own texts joined by UNION ALL, and a class that violates both counted once (MAX per class);
-- t-closeness compared exactly, in whole numbers of DECIMAL(38, 0).

CREATE TEMPORARY TABLE "__sqlanon_rollup_1" AS
WITH "first_rows" AS (
  SELECT
    CAST(0 AS BIGINT) AS "tag",
    (
      "key_0" & 16383
    ) AS "key_0",
    CAST(SUM("n") AS BIGINT) AS "n"
  FROM "__sqlanon_cells_1"
  GROUP BY
    (
      "key_0" & 16383
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
), "class_sensitive_value_0" AS (
  SELECT
    (
      "tag" << 14
    ) + (
      "key_0" & 1023
    ) AS "class_id",
    (
      (
        "key_0" & 15360
      ) >> 10
    ) AS "value",
    "n"
  FROM "node_row"
), "equivalence_class" AS (
  SELECT
    "class_id",
    CAST(SUM("n") AS BIGINT) AS "size",
    CAST(SUM("n") AS BIGINT) AS "entities"
  FROM "class_sensitive_value_0"
  GROUP BY
    "class_id"
), "sensitive_value_0" AS (
  SELECT
    *
  FROM "__sqlanon_sensitive_value_0_1"
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
    "class_id" >> 14 AS "index",
    COUNT(*) AS "classes",
    SUM("size" * "size") AS "squares"
  FROM "equivalence_class"
  GROUP BY
    "class_id" >> 14
) AS "all_classes"
FULL JOIN (
  SELECT
    "class_id" >> 14 AS "index",
    SUM("size") AS "size",
    SUM("excess") AS "excess",
    COUNT(*) AS "violating"
  FROM (
    SELECT
      "class_id",
      MAX("size") AS "size",
      MAX("excess") AS "excess"
    FROM (
      (
        SELECT
          "class_id",
          "size",
          CAST("size" AS DOUBLE) AS "excess"
        FROM "equivalence_class"
        WHERE
          "entities" < 2
      )
      UNION ALL
      (
        WITH "whole" AS (
          SELECT
            CAST(SUM("n") AS DOUBLE) AS "total",
            1 - CAST(MIN("n") AS DOUBLE) / NULLIF(CAST(SUM("n") AS DOUBLE), 0) AS "farthest"
          FROM "sensitive_value_0" AS "sensitive_value"
        ), "class" AS (
          SELECT
            "s"."class_id",
            MAX("c"."size") AS "size",
            MAX("w"."total") AS "total",
            MAX("w"."farthest") - CAST(0.5 AS DOUBLE) AS "most",
            MAX("w"."total" * CAST("c"."size" AS DOUBLE)) AS "scale",
            SUM(
              LEAST(
                CAST("s"."n" AS DOUBLE) * "w"."total",
                CAST(COALESCE("v"."n", 0) AS DOUBLE) * CAST("c"."size" AS DOUBLE)
              )
            ) AS "common"
          FROM "class_sensitive_value_0" AS "s"
          JOIN "equivalence_class" AS "c"
            ON "c"."class_id" = "s"."class_id"
          CROSS JOIN "whole" AS "w"
          LEFT JOIN "sensitive_value_0" AS "v"
            ON "v"."value" = "s"."value"
          GROUP BY
            "s"."class_id"
        )
        SELECT
          "class_id",
          "size",
          CASE
            WHEN "most" > 1e-9
            THEN CAST("size" AS DOUBLE) * LEAST(
              1,
              GREATEST(0, (
                "scale" - "common"
              ) / NULLIF("scale", 0) - CAST(0.5 AS DOUBLE)) / NULLIF("most", 0)
            )
            ELSE CAST(0 AS DOUBLE)
          END AS "excess"
        FROM "class"
        WHERE
          CAST("scale" - "common" AS DECIMAL(38, 0)) * CAST('2' AS DECIMAL(38, 0)) > CAST('1' AS DECIMAL(38, 0)) * CAST("scale" AS DECIMAL(38, 0))
      )
    ) AS "violation"
    GROUP BY
      "class_id"
  ) AS "violation"
  GROUP BY
    "class_id" >> 14
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
), "class_sensitive_value_0" AS (
  SELECT
    (
      "tag" << 14
    ) + (
      "key_0" & 1023
    ) AS "class_id",
    (
      (
        "key_0" & 15360
      ) >> 10
    ) AS "value",
    "n"
  FROM "node_row"
), "equivalence_class" AS (
  SELECT
    "class_id",
    CAST(SUM("n") AS BIGINT) AS "size",
    CAST(SUM("n") AS BIGINT) AS "entities"
  FROM "class_sensitive_value_0"
  GROUP BY
    "class_id"
), "sensitive_value_0" AS (
  SELECT
    *
  FROM "__sqlanon_sensitive_value_0_1"
), "withheld" AS (
  SELECT
    "class_id" >> 14 AS "index",
    "class_id",
    "size"
  FROM (
    SELECT
      "class_id",
      MAX("size") AS "size",
      MAX("excess") AS "excess"
    FROM (
      (
        SELECT
          "class_id",
          "size",
          CAST("size" AS DOUBLE) AS "excess"
        FROM "equivalence_class"
        WHERE
          "entities" < 2
      )
      UNION ALL
      (
        WITH "whole" AS (
          SELECT
            CAST(SUM("n") AS DOUBLE) AS "total",
            1 - CAST(MIN("n") AS DOUBLE) / NULLIF(CAST(SUM("n") AS DOUBLE), 0) AS "farthest"
          FROM "sensitive_value_0" AS "sensitive_value"
        ), "class" AS (
          SELECT
            "s"."class_id",
            MAX("c"."size") AS "size",
            MAX("w"."total") AS "total",
            MAX("w"."farthest") - CAST(0.5 AS DOUBLE) AS "most",
            MAX("w"."total" * CAST("c"."size" AS DOUBLE)) AS "scale",
            SUM(
              LEAST(
                CAST("s"."n" AS DOUBLE) * "w"."total",
                CAST(COALESCE("v"."n", 0) AS DOUBLE) * CAST("c"."size" AS DOUBLE)
              )
            ) AS "common"
          FROM "class_sensitive_value_0" AS "s"
          JOIN "equivalence_class" AS "c"
            ON "c"."class_id" = "s"."class_id"
          CROSS JOIN "whole" AS "w"
          LEFT JOIN "sensitive_value_0" AS "v"
            ON "v"."value" = "s"."value"
          GROUP BY
            "s"."class_id"
        )
        SELECT
          "class_id",
          "size",
          CASE
            WHEN "most" > 1e-9
            THEN CAST("size" AS DOUBLE) * LEAST(
              1,
              GREATEST(0, (
                "scale" - "common"
              ) / NULLIF("scale", 0) - CAST(0.5 AS DOUBLE)) / NULLIF("most", 0)
            )
            ELSE CAST(0 AS DOUBLE)
          END AS "excess"
        FROM "class"
        WHERE
          CAST("scale" - "common" AS DECIMAL(38, 0)) * CAST('2' AS DECIMAL(38, 0)) > CAST('1' AS DECIMAL(38, 0)) * CAST("scale" AS DECIMAL(38, 0))
      )
    ) AS "violation"
    GROUP BY
      "class_id"
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
  ) AS INT128) AS "sum_1",
  CAST(COALESCE(
    SUM(CASE WHEN "node"."attribute" = 2 THEN "withheld"."size" * "leaves"."others" END),
    0
  ) AS INT128) AS "sum_2"
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
    UNNEST(CAST([0, 0, 0] AS BIGINT[])) AS "attribute",
    UNNEST(CAST([1, 2, 3] AS BIGINT[])) AS "level",
    UNNEST(
      CAST([
        0 + (
          "rank_1" << 2
        ) + (
          "rank_2" << 3
        ) + (
          "rank_3" << 4
        ),
        0 + (
          "rank_2" << 3
        ) + (
          "rank_3" << 4
        ),
        0 + (
          "rank_3" << 4
        )
      ] AS BIGINT[])
    ) AS "part_0",
    UNNEST(CAST(["leaves_1" - 1, "leaves_2" - 1, "leaves_3" - 1] AS BIGINT[])) AS "others"
  FROM "__sqlanon_tree_1"
  UNION ALL
  SELECT DISTINCT
    UNNEST(CAST([2, 2, 2] AS BIGINT[])) AS "attribute",
    UNNEST(CAST([1, 2, 3] AS BIGINT[])) AS "level",
    UNNEST(CAST([0 + (
        "rank_1" << 9
    ), 0, 0] AS BIGINT[])) AS "part_0",
    UNNEST(CAST(["leaves_1" - 1, "leaves_2" - 1, "leaves_3" - 1] AS BIGINT[])) AS "others"
  FROM "__sqlanon_tree_3"
  UNION ALL
  SELECT
    UNNEST(CAST([0, 1, 2] AS BIGINT[])) AS "attribute",
    UNNEST(CAST([4, 1, 4] AS BIGINT[])) AS "level",
    UNNEST(CAST([0, 0, 0] AS BIGINT[])) AS "part_0",
    UNNEST(CAST([16, 1, 13] AS BIGINT[])) AS "others"
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

INSERT INTO "__sqlanon_rollup_1"
SELECT
  "node"."tag",
  (
    "fine"."key_0" & "node"."mask_0"
  ) AS "key_0",
  CAST(SUM("fine"."n") AS BIGINT) AS "n"
FROM "__sqlanon_rollup_1" AS "fine"
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
