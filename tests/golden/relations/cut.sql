SELECT
  "label", "dim", "value",
  CAST(SUM("n") OVER (PARTITION BY "label", "dim" ORDER BY "value" ASC NULLS LAST) AS BIGINT) AS "lower",
  CAST(SUM("n") OVER (PARTITION BY "label", "dim") AS BIGINT) AS "rows",
  MIN("value") OVER (PARTITION BY "label", "dim") AS "low", MAX("value") OVER (PARTITION BY "label", "dim") AS "high"
FROM (
  SELECT "label", "dim", "value", CAST(SUM("n") AS BIGINT) AS "n"
  FROM (
    SELECT
      "label", UNNEST([CAST(0 AS INT), CAST(1 AS INT), CAST(2 AS INT)]) AS "dim",
      UNNEST(
        [ CAST((("key_0" & 31)) AS INT), CAST((("key_0" & 32) >> 5) AS INT), CAST((("key_0" & 960) >> 6) AS INT)
        ]
      ) AS "value",
      CAST(1 AS BIGINT) AS "n"
    FROM "__sqlanon_points_1"
  ) AS "each"
  GROUP BY "label", "dim", "value"
) AS "counted"
