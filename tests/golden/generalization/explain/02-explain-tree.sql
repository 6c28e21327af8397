-- Look for: labels of single nodes for the text of an example, asked of one tree each by its ranks, by the same
-- expressions as in the release.

SELECT
  (
    SELECT CAST(MIN("level_1") AS TEXT)
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
      FROM ({occurring("__sqlanon_tree_1", 0, 1)}) AS "occurring"
    ) AS "generalized"
    WHERE "n" > 0
  ),
  (
    SELECT CAST(MIN("level_2") AS TEXT)
    FROM (
      SELECT
        "value", "n", LEFT(CAST("value" AS TEXT), 4) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 4) AS "level_1",
        LEFT(CAST("value" AS TEXT), 3) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 3) AS "level_2",
        LEFT(CAST("value" AS TEXT), 2) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 2) AS "level_3"
      FROM ({occurring-2("__sqlanon_tree_3", 0)}) AS "occurring"
    ) AS "generalized"
    WHERE "n" > 0
  ),
  (
    SELECT CAST(MIN("level_2") AS TEXT)
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
      FROM ({occurring-2("__sqlanon_tree_1", 1)}) AS "occurring"
    ) AS "generalized"
    WHERE "n" > 0
  ),
  (
    SELECT CAST(MIN("level_1") AS TEXT)
    FROM (
      SELECT
        "value", "n", LEFT(CAST("value" AS TEXT), 4) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 4) AS "level_1",
        LEFT(CAST("value" AS TEXT), 3) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 3) AS "level_2",
        LEFT(CAST("value" AS TEXT), 2) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 2) AS "level_3"
      FROM ({occurring("__sqlanon_tree_3", 1, 0)}) AS "occurring"
    ) AS "generalized"
    WHERE "n" > 0
  );
