-- Look for: a row per value of each quasi-identifier; rank_i numbers siblings below one parent in value order (by the
-- least value below them, never by label); leaves_i counts the values below each node; sex has no levels, and rank_0
-- alone.

CREATE TEMPORARY TABLE "__sqlanon_tree_1" AS
SELECT
  "value", "n", "leaf", "rank_0", "rank_1", "rank_2",
  CAST(DENSE_RANK() OVER (ORDER BY "low_3" ASC NULLS LAST, "level_3" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_3",
  "leaves_1", "leaves_2", "leaves_3"
FROM (
  SELECT
    *,
    CAST(DENSE_RANK() OVER (PARTITION BY "level_3" ORDER BY "low_2" ASC NULLS LAST, "level_2" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_2",
    MIN("low_2") OVER (
      PARTITION BY "level_3"
      ORDER BY "low_2" ASC NULLS LAST, "level_2" ASC NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS "low_3",
    CAST(SUM("leaf") OVER (
      PARTITION BY "level_3"
      ORDER BY "low_2" ASC NULLS LAST, "level_2" ASC NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS BIGINT) AS "leaves_3"
  FROM (
    SELECT
      *,
      CAST(DENSE_RANK() OVER (
        PARTITION BY "level_2", "level_3"
        ORDER BY "low_1" ASC NULLS LAST, "level_1" ASC NULLS LAST
      ) - 1 AS BIGINT) AS "rank_1",
      MIN("low_1") OVER (
        PARTITION BY "level_2", "level_3"
        ORDER BY "low_1" ASC NULLS LAST, "level_1" ASC NULLS LAST
        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
      ) AS "low_2",
      CAST(SUM("leaf") OVER (
        PARTITION BY "level_2", "level_3"
        ORDER BY "low_1" ASC NULLS LAST, "level_1" ASC NULLS LAST
        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
      ) AS BIGINT) AS "leaves_2"
    FROM (
      SELECT
        *,
        CAST(ROW_NUMBER() OVER (PARTITION BY "level_1", "level_2", "level_3" ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_0",
        MIN("value") OVER (
          PARTITION BY "level_1", "level_2", "level_3"
          ORDER BY "value" ASC NULLS LAST
          ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) AS "low_1",
        CAST(SUM("leaf") OVER (
          PARTITION BY "level_1", "level_2", "level_3"
          ORDER BY "value" ASC NULLS LAST
          ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) AS BIGINT) AS "leaves_1"
      FROM (
        SELECT "value", "n", CASE WHEN "n" > 0 THEN 1 ELSE 0 END AS "leaf", "level_1", "level_2", "level_3"
        FROM (
          SELECT
            "value", "n",
            CASE
              WHEN "value" = CAST('infinity' AS DATE) THEN 'infinity'
              WHEN "value" = CAST('-infinity' AS DATE) THEN '-infinity'
              ELSE (CASE WHEN EXTRACT(YEAR FROM "value") < 0 THEN '-' ELSE '' END || (
                REPEAT('0', 4 - LENGTH(CAST(ABS(EXTRACT(YEAR FROM "value")) AS TEXT))) || CAST(ABS(EXTRACT(YEAR FROM "value")) AS TEXT)
              )) || '-' || (
                REPEAT('0', 2 - LENGTH(CAST(EXTRACT(MONTH FROM "value") AS TEXT))) || CAST(EXTRACT(MONTH FROM "value") AS TEXT)
              )
            END AS "level_1",
            CASE
              WHEN "value" = CAST('infinity' AS DATE) THEN 'infinity'
              WHEN "value" = CAST('-infinity' AS DATE) THEN '-infinity'
              ELSE CASE WHEN EXTRACT(YEAR FROM "value") < 0 THEN '-' ELSE '' END || (
                REPEAT('0', 4 - LENGTH(CAST(ABS(EXTRACT(YEAR FROM "value")) AS TEXT))) || CAST(ABS(EXTRACT(YEAR FROM "value")) AS TEXT)
              )
            END AS "level_2",
            CASE
              WHEN "value" = CAST('infinity' AS DATE) THEN 'infinity'
              WHEN "value" = CAST('-infinity' AS DATE) THEN '-infinity'
              ELSE CASE WHEN EXTRACT(YEAR FROM "value") < 0 THEN '-' ELSE '' END || (
                REPEAT('0', 3 - LENGTH(CAST(ABS(EXTRACT(YEAR FROM "value")) // 10 AS TEXT))) || CAST(ABS(EXTRACT(YEAR FROM "value")) // 10 AS TEXT)
              ) || '*'
            END AS "level_3"
          FROM ({counted-5("dob", "patients")}) AS "occurring"
        ) AS "generalized"
      ) AS "spans"
    ) AS "spans"
  ) AS "spans"
) AS "spans";

CREATE TEMPORARY TABLE "__sqlanon_tree_2" AS
SELECT "value", "n", "leaf", CAST(ROW_NUMBER() OVER (ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_0"
FROM ({spans("sex", "memory", "patients")}) AS "spans";

CREATE TEMPORARY TABLE "__sqlanon_tree_3" AS
SELECT
  "value", "n", "leaf", "rank_0", "rank_1", "rank_2",
  CAST(DENSE_RANK() OVER (ORDER BY "low_3" ASC NULLS LAST, "level_3" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_3",
  "leaves_1", "leaves_2", "leaves_3"
FROM (
  SELECT
    *,
    CAST(DENSE_RANK() OVER (PARTITION BY "level_3" ORDER BY "low_2" ASC NULLS LAST, "level_2" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_2",
    MIN("low_2") OVER (
      PARTITION BY "level_3"
      ORDER BY "low_2" ASC NULLS LAST, "level_2" ASC NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS "low_3",
    CAST(SUM("leaf") OVER (
      PARTITION BY "level_3"
      ORDER BY "low_2" ASC NULLS LAST, "level_2" ASC NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS BIGINT) AS "leaves_3"
  FROM (
    SELECT
      *,
      CAST(DENSE_RANK() OVER (
        PARTITION BY "level_2", "level_3"
        ORDER BY "low_1" ASC NULLS LAST, "level_1" ASC NULLS LAST
      ) - 1 AS BIGINT) AS "rank_1",
      MIN("low_1") OVER (
        PARTITION BY "level_2", "level_3"
        ORDER BY "low_1" ASC NULLS LAST, "level_1" ASC NULLS LAST
        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
      ) AS "low_2",
      CAST(SUM("leaf") OVER (
        PARTITION BY "level_2", "level_3"
        ORDER BY "low_1" ASC NULLS LAST, "level_1" ASC NULLS LAST
        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
      ) AS BIGINT) AS "leaves_2"
    FROM (
      SELECT
        *,
        CAST(ROW_NUMBER() OVER (PARTITION BY "level_1", "level_2", "level_3" ORDER BY "value" ASC NULLS LAST) - 1 AS BIGINT) AS "rank_0",
        MIN("value") OVER (
          PARTITION BY "level_1", "level_2", "level_3"
          ORDER BY "value" ASC NULLS LAST
          ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) AS "low_1",
        CAST(SUM("leaf") OVER (
          PARTITION BY "level_1", "level_2", "level_3"
          ORDER BY "value" ASC NULLS LAST
          ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        ) AS BIGINT) AS "leaves_1"
      FROM (
        SELECT "value", "n", CASE WHEN "n" > 0 THEN 1 ELSE 0 END AS "leaf", "level_1", "level_2", "level_3"
        FROM (
          SELECT
            "value", "n", LEFT(CAST("value" AS TEXT), 4) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 4) AS "level_1",
            LEFT(CAST("value" AS TEXT), 3) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 3) AS "level_2",
            LEFT(CAST("value" AS TEXT), 2) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 2) AS "level_3"
          FROM ({counted-5("zip", "patients")}) AS "occurring"
        ) AS "generalized"
      ) AS "spans"
    ) AS "spans"
  ) AS "spans"
) AS "spans";

SELECT
  0 AS "tree",
  [
    CAST(SUM("leaf") AS INT128), CAST(SUM("n") AS INT128), CAST(MAX("rank_0") + 1 AS INT128),
    CAST(MAX("rank_1") + 1 AS INT128), CAST(MAX("rank_2") + 1 AS INT128), CAST(MAX("rank_3") + 1 AS INT128),
    CAST(SUM("n" * ("leaves_1" - 1)) AS INT128), CAST(SUM("n" * ("leaves_2" - 1)) AS INT128),
    CAST(SUM("n" * ("leaves_3" - 1)) AS INT128), CAST(MAX("leaves_1") - 1 AS INT128),
    CAST(MAX("leaves_2") - 1 AS INT128), CAST(MAX("leaves_3") - 1 AS INT128)
  ] AS "figures"
FROM "__sqlanon_tree_1"
UNION ALL
SELECT
  1 AS "tree", [ CAST(SUM("leaf") AS INT128), CAST(SUM("n") AS INT128), CAST(MAX("rank_0") + 1 AS INT128)
  ] AS "figures"
FROM "__sqlanon_tree_2"
UNION ALL
SELECT
  2 AS "tree",
  [
    CAST(SUM("leaf") AS INT128), CAST(SUM("n") AS INT128), CAST(MAX("rank_0") + 1 AS INT128),
    CAST(MAX("rank_1") + 1 AS INT128), CAST(MAX("rank_2") + 1 AS INT128), CAST(MAX("rank_3") + 1 AS INT128),
    CAST(SUM("n" * ("leaves_1" - 1)) AS INT128), CAST(SUM("n" * ("leaves_2" - 1)) AS INT128),
    CAST(SUM("n" * ("leaves_3" - 1)) AS INT128), CAST(MAX("leaves_1") - 1 AS INT128),
    CAST(MAX("leaves_2") - 1 AS INT128), CAST(MAX("leaves_3") - 1 AS INT128)
  ] AS "figures"
FROM "__sqlanon_tree_3";
