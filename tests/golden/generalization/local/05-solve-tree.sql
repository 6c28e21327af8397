-- Look for:

CREATE TEMPORARY TABLE "__sqlanon_tree_4" AS
SELECT
  "tree".*
  EXCLUDE ("n"),
  "counted"."n"
FROM "__sqlanon_tree_1" AS "tree"
JOIN (
  SELECT
    "coded"."value",
    CAST(COALESCE(SUM("cell"."n"), 0) AS BIGINT) AS "n"
  FROM (
    SELECT
      "value",
      (
        "rank_0" << 0
      ) + (
        "rank_1" << 2
      ) + (
        "rank_2" << 3
      ) + (
        "rank_3" << 4
      ) AS "key_0"
    FROM "__sqlanon_tree_1"
  ) AS "coded"
  LEFT JOIN "__sqlanon_cells_3" AS "cell"
    ON (
      "cell"."key_0" & 31
    ) = "coded"."key_0"
  GROUP BY
    "coded"."value"
) AS "counted"
  ON "counted"."value" IS NOT DISTINCT FROM "tree"."value";

SELECT
  CAST(COALESCE(SUM("leaf"), 0) AS INT128),
  CAST(COALESCE(SUM("n"), 0) AS INT128),
  COALESCE(MAX("rank_0") + 1, 0),
  COALESCE(MAX("rank_1") + 1, 0),
  COALESCE(MAX("rank_2") + 1, 0),
  COALESCE(MAX("rank_3") + 1, 0),
  CAST(COALESCE(SUM("n" * (
    "leaves_1" - 1
  )), 0) AS INT128),
  CAST(COALESCE(SUM("n" * (
    "leaves_2" - 1
  )), 0) AS INT128),
  CAST(COALESCE(SUM("n" * (
    "leaves_3" - 1
  )), 0) AS INT128),
  COALESCE(MAX("leaves_1") - 1, 0),
  COALESCE(MAX("leaves_2") - 1, 0),
  COALESCE(MAX("leaves_3") - 1, 0)
FROM "__sqlanon_tree_4";

CREATE TEMPORARY TABLE "__sqlanon_tree_5" AS
SELECT
  "tree".*
  EXCLUDE ("n"),
  "counted"."n"
FROM "__sqlanon_tree_2" AS "tree"
JOIN (
  SELECT
    "coded"."value",
    CAST(COALESCE(SUM("cell"."n"), 0) AS BIGINT) AS "n"
  FROM (
    SELECT
      "value",
      (
        "rank_0" << 5
      ) AS "key_0"
    FROM "__sqlanon_tree_2"
  ) AS "coded"
  LEFT JOIN "__sqlanon_cells_3" AS "cell"
    ON (
      "cell"."key_0" & 32
    ) = "coded"."key_0"
  GROUP BY
    "coded"."value"
) AS "counted"
  ON "counted"."value" IS NOT DISTINCT FROM "tree"."value";

SELECT
  CAST(COALESCE(SUM("leaf"), 0) AS INT128),
  CAST(COALESCE(SUM("n"), 0) AS INT128),
  COALESCE(MAX("rank_0") + 1, 0)
FROM "__sqlanon_tree_5";

CREATE TEMPORARY TABLE "__sqlanon_tree_6" AS
SELECT
  "tree".*
  EXCLUDE ("n"),
  "counted"."n"
FROM "__sqlanon_tree_3" AS "tree"
JOIN (
  SELECT
    "coded"."value",
    CAST(COALESCE(SUM("cell"."n"), 0) AS BIGINT) AS "n"
  FROM (
    SELECT
      "value",
      (
        "rank_0" << 6
      ) + (
        "rank_1" << 9
      ) AS "key_0"
    FROM "__sqlanon_tree_3"
  ) AS "coded"
  LEFT JOIN "__sqlanon_cells_3" AS "cell"
    ON (
      "cell"."key_0" & 960
    ) = "coded"."key_0"
  GROUP BY
    "coded"."value"
) AS "counted"
  ON "counted"."value" IS NOT DISTINCT FROM "tree"."value";

SELECT
  CAST(COALESCE(SUM("leaf"), 0) AS INT128),
  CAST(COALESCE(SUM("n"), 0) AS INT128),
  COALESCE(MAX("rank_0") + 1, 0),
  COALESCE(MAX("rank_1") + 1, 0),
  COALESCE(MAX("rank_2") + 1, 0),
  COALESCE(MAX("rank_3") + 1, 0),
  CAST(COALESCE(SUM("n" * (
    "leaves_1" - 1
  )), 0) AS INT128),
  CAST(COALESCE(SUM("n" * (
    "leaves_2" - 1
  )), 0) AS INT128),
  CAST(COALESCE(SUM("n" * (
    "leaves_3" - 1
  )), 0) AS INT128),
  COALESCE(MAX("leaves_1") - 1, 0),
  COALESCE(MAX("leaves_2") - 1, 0),
  COALESCE(MAX("leaves_3") - 1, 0)
FROM "__sqlanon_tree_6";
