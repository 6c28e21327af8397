-- Look for: without a hierarchy a tree has no levels: values in value order, and nothing else. That of sex is as in
-- generalization.

CREATE TEMPORARY TABLE "__sqlanon_tree_1" AS
SELECT
  "value",
  "n",
  "leaf",
  CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_0"
FROM (
  SELECT
    "value",
    "n",
    CASE WHEN "n" > 0 THEN 1 ELSE 0 END AS "leaf"
  FROM (
    SELECT
      "value",
      "n"
    FROM (
      SELECT
        "dob" AS "value",
        COUNT(*) AS "n"
      FROM "memory"."main"."patients"
      GROUP BY
        "dob"
    ) AS "occurring"
  ) AS "generalized"
) AS "spans";

CREATE TEMPORARY TABLE "__sqlanon_tree_3" AS
SELECT
  "value",
  "n",
  "leaf",
  CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_0"
FROM (
  SELECT
    "value",
    "n",
    CASE WHEN "n" > 0 THEN 1 ELSE 0 END AS "leaf"
  FROM (
    SELECT
      "value",
      "n"
    FROM (
      SELECT
        "zip" AS "value",
        COUNT(*) AS "n"
      FROM "memory"."main"."patients"
      GROUP BY
        "zip"
    ) AS "occurring"
  ) AS "generalized"
) AS "spans";

SELECT
  0 AS "tree",
  [
    CAST(SUM("leaf") AS INT128),
    CAST(SUM("n") AS INT128),
    CAST(MAX("rank_0") + 1 AS INT128)
  ] AS "figures"
FROM "__sqlanon_tree_1"
UNION ALL
SELECT
  1 AS "tree",
  [
    CAST(SUM("leaf") AS INT128),
    CAST(SUM("n") AS INT128),
    CAST(MAX("rank_0") + 1 AS INT128)
  ] AS "figures"
FROM "__sqlanon_tree_2"
UNION ALL
SELECT
  2 AS "tree",
  [
    CAST(SUM("leaf") AS INT128),
    CAST(SUM("n") AS INT128),
    CAST(MAX("rank_0") + 1 AS INT128)
  ] AS "figures"
FROM "__sqlanon_tree_3";
