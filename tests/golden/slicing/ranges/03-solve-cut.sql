-- Look for: the same cuts as for buckets, in the bits of that column.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_cut_2" AS
SELECT
  "turn"."region", "turn"."label", "turn"."median",
  list_extract([CAST(0 AS BIGINT), CAST(6 AS BIGINT)], "turn"."dim" + 1) AS "shift",
  list_extract([CAST(31 AS BIGINT), CAST(15 AS BIGINT)], "turn"."dim" + 1) AS "mask"
FROM (
  SELECT "number" AS "region", "label", "best"['dim'] AS "dim", "best"['median'] AS "median"
  FROM (
    SELECT CAST(ROW_NUMBER() OVER () - 1 AS INT) AS "number", "label", "best"
    FROM (
      SELECT
        "label",
        MIN(
          {'narrow': "narrow", 'dim': "dim", 'apart': ABS((
            "rows" - "lower"
          ) - "lower"), 'lower': "lower", 'median': "value"}
        ) AS "best"
      FROM (
        SELECT
          "cut".*,
          -(
            CASE
              WHEN "cut"."dim" = 0
              THEN CAST(1.0 AS DOUBLE) * (("last_0"."position" - "first_0"."position") / CAST(6828.0 AS DOUBLE))
              WHEN "cut"."dim" = 1
              THEN CAST(1.0 AS DOUBLE) * (CAST((("cut"."high" - "cut"."low") + 1) AS DOUBLE) / CAST(14.0 AS DOUBLE))
            END
          ) AS "narrow"
        FROM (
          SELECT
            "label", "dim", "value",
            CAST(SUM("n") OVER (PARTITION BY "label", "dim" ORDER BY "value" ASC NULLS LAST) AS BIGINT) AS "lower",
            CAST(SUM("n") OVER (PARTITION BY "label", "dim") AS BIGINT) AS "rows",
            MIN("value") OVER (PARTITION BY "label", "dim") AS "low",
            MAX("value") OVER (PARTITION BY "label", "dim") AS "high"
          FROM (
            SELECT "label", "dim", "value", CAST(SUM("n") AS BIGINT) AS "n"
            FROM (
              SELECT
                "label", UNNEST([CAST(0 AS INT), CAST(1 AS INT)]) AS "dim",
                UNNEST([ CAST((("key_0" & 31)) AS INT), CAST((("key_0" & 960) >> 6) AS INT) ]) AS "value",
                CAST(1 AS BIGINT) AS "n"
              FROM "__sqlanon_points_2" AS "points"
            ) AS "each"
            GROUP BY "label", "dim", "value"
          ) AS "counted"
        ) AS "cut"
        LEFT JOIN "__sqlanon_ranked_1" AS "first_0" ON "cut"."dim" = 0 AND "first_0"."rank_0" = "cut"."low"
        LEFT JOIN "__sqlanon_ranked_1" AS "last_0" ON "cut"."dim" = 0 AND "last_0"."rank_0" = "cut"."high"
      ) AS "cut"
      WHERE "lower" >= 5 AND "rows" - "lower" >= 5
      GROUP BY "label"
    ) AS "best_of_region"
  ) AS "candidate"
) AS "turn";

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_cut_3" AS
SELECT
  "turn"."region", "turn"."label", "turn"."median", list_extract([CAST(5 AS BIGINT)], "turn"."dim" + 1) AS "shift",
  list_extract([CAST(1 AS BIGINT)], "turn"."dim" + 1) AS "mask"
FROM (
  SELECT "number" AS "region", "label", "best"['dim'] AS "dim", "best"['median'] AS "median"
  FROM (
    SELECT CAST(ROW_NUMBER() OVER () - 1 AS INT) AS "number", "label", "best"
    FROM (
      SELECT
        "label",
        MIN(
          {'narrow': "narrow", 'dim': "dim", 'apart': ABS((
            "rows" - "lower"
          ) - "lower"), 'lower': "lower", 'median': "value"}
        ) AS "best"
      FROM (
        SELECT
          "cut".*,
          -(
            CASE
              WHEN "cut"."dim" = 0
              THEN CAST(1.0 AS DOUBLE) * (CAST((("cut"."high" - "cut"."low") + 1) AS DOUBLE) / CAST(2.0 AS DOUBLE))
            END
          ) AS "narrow"
        FROM (
          SELECT
            "label", "dim", "value",
            CAST(SUM("n") OVER (PARTITION BY "label", "dim" ORDER BY "value" ASC NULLS LAST) AS BIGINT) AS "lower",
            CAST(SUM("n") OVER (PARTITION BY "label", "dim") AS BIGINT) AS "rows",
            MIN("value") OVER (PARTITION BY "label", "dim") AS "low",
            MAX("value") OVER (PARTITION BY "label", "dim") AS "high"
          FROM (
            SELECT "label", "dim", "value", CAST(SUM("n") AS BIGINT) AS "n"
            FROM (
              SELECT
                "label", UNNEST([CAST(0 AS INT)]) AS "dim", UNNEST([CAST((("key_0" & 32) >> 5) AS INT)]) AS "value",
                CAST(1 AS BIGINT) AS "n"
              FROM "__sqlanon_points_3" AS "points"
            ) AS "each"
            GROUP BY "label", "dim", "value"
          ) AS "counted"
        ) AS "cut"
      ) AS "cut"
      WHERE "lower" >= 5 AND "rows" - "lower" >= 5
      GROUP BY "label"
    ) AS "best_of_region"
  ) AS "candidate"
) AS "turn";
