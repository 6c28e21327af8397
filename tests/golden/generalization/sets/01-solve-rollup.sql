-- Look for: the class of each set as a mask of class_id in class_of_set_0 and class_of_set_1, which keeps the node's index; the relations of a
-- set grouped from those of all quasi-identifiers; in "of_set" the excess of each set by itself, of which the
-- greatest counts, beside the rows of all classes that lie in a violating one.

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
), "class_of_set_0" AS (
  SELECT
    "class_id",
    "size",
    "entities",
    "class_id" & 1033183 AS "set_class"
  FROM "equivalence_class"
), "class_of_set_1" AS (
  SELECT
    "class_id",
    "size",
    "entities",
    "class_id" & 1033184 AS "set_class"
  FROM "equivalence_class"
), "equivalence_class_on_0" AS (
  SELECT
    "set_class" AS "class_id",
    CAST(SUM("size") AS BIGINT) AS "size",
    CAST(SUM("entities") AS BIGINT) AS "entities"
  FROM "class_of_set_0"
  GROUP BY
    "set_class"
), "class_sensitive_value_0_on_1" AS (
  SELECT
    "class"."set_class" AS "class_id",
    "part"."value",
    CAST(SUM("part"."n") AS BIGINT) AS "n"
  FROM "class_sensitive_value_0" AS "part"
  JOIN "class_of_set_1" AS "class"
    ON "part"."class_id" = "class"."class_id"
  GROUP BY
    "class"."set_class",
    "part"."value"
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
    "index",
    MAX("size") AS "size",
    MAX("excess") AS "excess",
    MAX("violating") AS "violating"
  FROM (
    SELECT
      "class_id" >> 14 AS "index",
      CAST(0 AS BIGINT) AS "size",
      SUM("excess") AS "excess",
      CAST(0 AS BIGINT) AS "violating"
    FROM (
      SELECT
        "class_id",
        "size",
        CAST("size" AS DOUBLE) AS "excess"
      FROM "equivalence_class_on_0" AS "equivalence_class"
      WHERE
        "entities" < 3
    ) AS "violation"
    GROUP BY
      "class_id" >> 14
    UNION ALL
    SELECT
      "class_id" >> 14 AS "index",
      CAST(0 AS BIGINT) AS "size",
      SUM("excess") AS "excess",
      CAST(0 AS BIGINT) AS "violating"
    FROM (
      SELECT
        "class_id",
        CAST(SUM("n") AS BIGINT) AS "size",
        CAST(SUM("n") AS DOUBLE) AS "excess"
      FROM "class_sensitive_value_0_on_1" AS "class_sensitive_value"
      GROUP BY
        "class_id"
      HAVING
        COUNT(*) < 3
    ) AS "violation"
    GROUP BY
      "class_id" >> 14
    UNION ALL
    SELECT
      "index",
      "size",
      CAST(0.0 AS DOUBLE) AS "excess",
      "violating"
    FROM (
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
              "class"."class_id",
              "class"."size",
              LEAST("violation"."excess", "class"."size") AS "excess"
            FROM "class_of_set_0" AS "class"
            JOIN (
              SELECT
                "class_id",
                "size",
                CAST("size" AS DOUBLE) AS "excess"
              FROM "equivalence_class_on_0" AS "equivalence_class"
              WHERE
                "entities" < 3
            ) AS "violation"
              ON "class"."set_class" = "violation"."class_id"
          )
          UNION ALL
          (
            SELECT
              "class"."class_id",
              "class"."size",
              LEAST("violation"."excess", "class"."size") AS "excess"
            FROM "class_of_set_1" AS "class"
            JOIN (
              SELECT
                "class_id",
                CAST(SUM("n") AS BIGINT) AS "size",
                CAST(SUM("n") AS DOUBLE) AS "excess"
              FROM "class_sensitive_value_0_on_1" AS "class_sensitive_value"
              GROUP BY
                "class_id"
              HAVING
                COUNT(*) < 3
            ) AS "violation"
              ON "class"."set_class" = "violation"."class_id"
          )
        ) AS "violation"
        GROUP BY
          "class_id"
      ) AS "violation"
      GROUP BY
        "class_id" >> 14
    ) AS "rows"
  ) AS "of_set"
  GROUP BY
    "index"
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
), "class_of_set_0" AS (
  SELECT
    "class_id",
    "size",
    "entities",
    "class_id" & 1033183 AS "set_class"
  FROM "equivalence_class"
), "class_of_set_1" AS (
  SELECT
    "class_id",
    "size",
    "entities",
    "class_id" & 1033184 AS "set_class"
  FROM "equivalence_class"
), "equivalence_class_on_0" AS (
  SELECT
    "set_class" AS "class_id",
    CAST(SUM("size") AS BIGINT) AS "size",
    CAST(SUM("entities") AS BIGINT) AS "entities"
  FROM "class_of_set_0"
  GROUP BY
    "set_class"
), "class_sensitive_value_0_on_1" AS (
  SELECT
    "class"."set_class" AS "class_id",
    "part"."value",
    CAST(SUM("part"."n") AS BIGINT) AS "n"
  FROM "class_sensitive_value_0" AS "part"
  JOIN "class_of_set_1" AS "class"
    ON "part"."class_id" = "class"."class_id"
  GROUP BY
    "class"."set_class",
    "part"."value"
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
          "class"."class_id",
          "class"."size",
          LEAST("violation"."excess", "class"."size") AS "excess"
        FROM "class_of_set_0" AS "class"
        JOIN (
          SELECT
            "class_id",
            "size",
            CAST("size" AS DOUBLE) AS "excess"
          FROM "equivalence_class_on_0" AS "equivalence_class"
          WHERE
            "entities" < 3
        ) AS "violation"
          ON "class"."set_class" = "violation"."class_id"
      )
      UNION ALL
      (
        SELECT
          "class"."class_id",
          "class"."size",
          LEAST("violation"."excess", "class"."size") AS "excess"
        FROM "class_of_set_1" AS "class"
        JOIN (
          SELECT
            "class_id",
            CAST(SUM("n") AS BIGINT) AS "size",
            CAST(SUM("n") AS DOUBLE) AS "excess"
          FROM "class_sensitive_value_0_on_1" AS "class_sensitive_value"
          GROUP BY
            "class_id"
          HAVING
            COUNT(*) < 3
        ) AS "violation"
          ON "class"."set_class" = "violation"."class_id"
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

WITH RECURSIVE "node_row" AS (
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
), "class_of_set_0" AS (
  SELECT
    "class_id",
    "size",
    "entities",
    "class_id" & 1033183 AS "set_class"
  FROM "equivalence_class"
), "class_of_set_1" AS (
  SELECT
    "class_id",
    "size",
    "entities",
    "class_id" & 1033184 AS "set_class"
  FROM "equivalence_class"
), "equivalence_class_on_0" AS (
  SELECT
    "set_class" AS "class_id",
    CAST(SUM("size") AS BIGINT) AS "size",
    CAST(SUM("entities") AS BIGINT) AS "entities"
  FROM "class_of_set_0"
  GROUP BY
    "set_class"
), "class_sensitive_value_0_on_1" AS (
  SELECT
    "class"."set_class" AS "class_id",
    "part"."value",
    CAST(SUM("part"."n") AS BIGINT) AS "n"
  FROM "class_sensitive_value_0" AS "part"
  JOIN "class_of_set_1" AS "class"
    ON "part"."class_id" = "class"."class_id"
  GROUP BY
    "class"."set_class",
    "part"."value"
), "sensitive_value_0" AS (
  SELECT
    *
  FROM "__sqlanon_sensitive_value_0_1"
), "rounds" AS (
  SELECT
    *
  FROM (
    SELECT
      1 AS "round",
      "class_id"
    FROM "equivalence_class"
    UNION ALL
    SELECT
      1 AS "round",
      NULL AS "class_id"
  ) AS "first"
  UNION ALL
  (
    WITH "round_class_of_set_0" AS (
      SELECT
        *
      FROM "class_of_set_0"
      WHERE
        "class_id" IN (
          SELECT
            "class_id"
          FROM "rounds"
        )
    ), "round_class_sensitive_value_0" AS (
      SELECT
        *
      FROM "class_sensitive_value_0"
      WHERE
        "class_id" IN (
          SELECT
            "class_id"
          FROM "rounds"
        )
    ), "round_class_of_set_1" AS (
      SELECT
        *
      FROM "class_of_set_1"
      WHERE
        "class_id" IN (
          SELECT
            "class_id"
          FROM "rounds"
        )
    ), "round_equivalence_class_on_0" AS (
      SELECT
        "set_class" AS "class_id",
        CAST(SUM("size") AS BIGINT) AS "size",
        CAST(SUM("entities") AS BIGINT) AS "entities"
      FROM "round_class_of_set_0"
      GROUP BY
        "set_class"
    ), "round_class_sensitive_value_0_on_1" AS (
      SELECT
        "class"."set_class" AS "class_id",
        "part"."value",
        CAST(SUM("part"."n") AS BIGINT) AS "n"
      FROM "round_class_sensitive_value_0" AS "part"
      JOIN "round_class_of_set_1" AS "class"
        ON "part"."class_id" = "class"."class_id"
      GROUP BY
        "class"."set_class",
        "part"."value"
    ), "round_violating" AS (
      SELECT
        "class_id"
      FROM (
        SELECT
          "class_id",
          MAX("size") AS "size",
          MAX("excess") AS "excess"
        FROM (
          (
            SELECT
              "class"."class_id",
              "class"."size",
              LEAST("violation"."excess", "class"."size") AS "excess"
            FROM "round_class_of_set_0" AS "class"
            JOIN (
              SELECT
                "class_id",
                "size",
                CAST("size" AS DOUBLE) AS "excess"
              FROM "round_equivalence_class_on_0" AS "equivalence_class"
              WHERE
                "entities" < 3
            ) AS "violation"
              ON "class"."set_class" = "violation"."class_id"
          )
          UNION ALL
          (
            SELECT
              "class"."class_id",
              "class"."size",
              LEAST("violation"."excess", "class"."size") AS "excess"
            FROM "round_class_of_set_1" AS "class"
            JOIN (
              SELECT
                "class_id",
                CAST(SUM("n") AS BIGINT) AS "size",
                CAST(SUM("n") AS DOUBLE) AS "excess"
              FROM "round_class_sensitive_value_0_on_1" AS "class_sensitive_value"
              GROUP BY
                "class_id"
              HAVING
                COUNT(*) < 3
            ) AS "violation"
              ON "class"."set_class" = "violation"."class_id"
          )
        ) AS "violation"
        GROUP BY
          "class_id"
      ) AS "violations"
    )
    SELECT
      "round" + 1 AS "round",
      "class_id"
    FROM "rounds"
    WHERE
      (
        "class_id" IS NULL
        OR NOT "class_id" IN (
          SELECT
            "class_id"
          FROM "round_violating"
        )
      )
      AND EXISTS(
        SELECT
          1
        FROM "round_violating"
      )
      AND "round" < 8
  )
), "remaining" AS (
  SELECT
    "class_id"
  FROM "rounds"
  WHERE
    "round" = (
      SELECT
        MAX("round")
      FROM "rounds"
    )
    AND NOT "class_id" IS NULL
), "remaining_class_of_set_0" AS (
  SELECT
    *
  FROM "class_of_set_0"
  WHERE
    "class_id" IN (
      SELECT
        "class_id"
      FROM "remaining"
    )
), "remaining_class_sensitive_value_0" AS (
  SELECT
    *
  FROM "class_sensitive_value_0"
  WHERE
    "class_id" IN (
      SELECT
        "class_id"
      FROM "remaining"
    )
), "remaining_class_of_set_1" AS (
  SELECT
    *
  FROM "class_of_set_1"
  WHERE
    "class_id" IN (
      SELECT
        "class_id"
      FROM "remaining"
    )
), "remaining_equivalence_class_on_0" AS (
  SELECT
    "set_class" AS "class_id",
    CAST(SUM("size") AS BIGINT) AS "size",
    CAST(SUM("entities") AS BIGINT) AS "entities"
  FROM "remaining_class_of_set_0"
  GROUP BY
    "set_class"
), "remaining_class_sensitive_value_0_on_1" AS (
  SELECT
    "class"."set_class" AS "class_id",
    "part"."value",
    CAST(SUM("part"."n") AS BIGINT) AS "n"
  FROM "remaining_class_sensitive_value_0" AS "part"
  JOIN "remaining_class_of_set_1" AS "class"
    ON "part"."class_id" = "class"."class_id"
  GROUP BY
    "class"."set_class",
    "part"."value"
), "violating" AS (
  SELECT
    "class_id"
  FROM (
    SELECT
      "class_id",
      MAX("size") AS "size",
      MAX("excess") AS "excess"
    FROM (
      (
        SELECT
          "class"."class_id",
          "class"."size",
          LEAST("violation"."excess", "class"."size") AS "excess"
        FROM "remaining_class_of_set_0" AS "class"
        JOIN (
          SELECT
            "class_id",
            "size",
            CAST("size" AS DOUBLE) AS "excess"
          FROM "remaining_equivalence_class_on_0" AS "equivalence_class"
          WHERE
            "entities" < 3
        ) AS "violation"
          ON "class"."set_class" = "violation"."class_id"
      )
      UNION ALL
      (
        SELECT
          "class"."class_id",
          "class"."size",
          LEAST("violation"."excess", "class"."size") AS "excess"
        FROM "remaining_class_of_set_1" AS "class"
        JOIN (
          SELECT
            "class_id",
            CAST(SUM("n") AS BIGINT) AS "size",
            CAST(SUM("n") AS DOUBLE) AS "excess"
          FROM "remaining_class_sensitive_value_0_on_1" AS "class_sensitive_value"
          GROUP BY
            "class_id"
          HAVING
            COUNT(*) < 3
        ) AS "violation"
          ON "class"."set_class" = "violation"."class_id"
      )
    ) AS "violation"
    GROUP BY
      "class_id"
  ) AS "violations"
), "kept" AS (
  SELECT
    "class_id"
  FROM "remaining"
  WHERE
    NOT EXISTS(
      SELECT
        1
      FROM "violating"
    )
), "withheld" AS (
  SELECT
    CAST(0 AS BIGINT) AS "index",
    "class_id",
    "size"
  FROM "equivalence_class"
  WHERE
    NOT "class_id" IN (
      SELECT
        "class_id"
      FROM "kept"
    )
)
SELECT
  EXISTS(
    SELECT
      1
    FROM "violating"
  ) AS "still",
  "lost".*
FROM (
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
    "node"."index"
) AS "lost";
