-- Look for: the values of each quasi-identifier in their order: what ranks and positions are made from.

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
      FROM "temp"."main"."__sqlanon_source_2"
      GROUP BY
        "dob"
    ) AS "occurring"
  ) AS "generalized"
) AS "spans";

CREATE TEMPORARY TABLE "__sqlanon_tree_2" AS
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
        "sex" AS "value",
        COUNT(*) AS "n"
      FROM "temp"."main"."__sqlanon_source_2"
      GROUP BY
        "sex"
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
      FROM "temp"."main"."__sqlanon_source_2"
      GROUP BY
        "zip"
    ) AS "occurring"
  ) AS "generalized"
) AS "spans";
