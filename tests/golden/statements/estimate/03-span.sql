-- Look for: labels of every level of a calendar, by their shape and not by a level from the catalog: first and last
-- day, high_side 0 where the end does not belong to it; clamped to the days that DATE has.

CREATE TEMPORARY TABLE "__sqlanon_span_1" AS
WITH "shown" AS (SELECT * FROM "__sqlanon_labels_1" AS "labels")
SELECT
  "label", CASE WHEN "low" < CAST('-2147483647' AS INT128) THEN CAST('-2147483647' AS INT128) ELSE "low" END AS "low",
  CASE WHEN "low" < CAST('-2147483647' AS INT128) THEN 0 ELSE "low_side" END AS "low_side",
  CASE WHEN "high" > CAST('2147483647' AS INT128) THEN CAST('2147483647' AS INT128) ELSE "high" END AS "high",
  CASE WHEN "high" > CAST('2147483647' AS INT128) THEN 1 ELSE "high_side" END AS "high_side", "known", "open_low",
  "open_high", "mask"
FROM (
  SELECT DISTINCT *
  FROM (
    SELECT
      "label",
      CASE
        WHEN NOT ISINF((CAST("low" AS DATE)))
        THEN CAST(DATE_DIFF('DAY', CAST('1970-01-01' AS DATE), (CAST("low" AS DATE))) AS INT128)
        WHEN (CAST("low" AS DATE)) > CAST('1970-01-01' AS DATE) THEN CAST(2147483647 AS INT128)
        WHEN NOT (CAST("low" AS DATE)) IS NULL THEN CAST(-2147483647 AS INT128)
      END AS "low",
      0 AS "low_side",
      CASE
        WHEN NOT ISINF((CAST("high" AS DATE)))
        THEN CAST(DATE_DIFF('DAY', CAST('1970-01-01' AS DATE), (CAST("high" AS DATE))) AS INT128)
        WHEN (CAST("high" AS DATE)) > CAST('1970-01-01' AS DATE) THEN CAST(2147483647 AS INT128)
        WHEN NOT (CAST("high" AS DATE)) IS NULL THEN CAST(-2147483647 AS INT128)
      END AS "high",
      0 AS "high_side", TRUE AS "known", FALSE AS "open_low", FALSE AS "open_high", CAST(NULL AS TEXT) AS "mask"
    FROM (
      WITH "part" AS (
        SELECT
          "label", "shown", CASE WHEN "shown" LIKE '-%' THEN -1 ELSE 1 END AS "sign",
          TRY_CAST(REGEXP_EXTRACT("shown", '^-?([0-9]+)', 1) AS INT) AS "year",
          TRY_CAST(REGEXP_EXTRACT("shown", '^-?[0-9]+-([0-9][0-9])', 1) AS INT) AS "month",
          TRY_CAST(REGEXP_EXTRACT("shown", '^-?[0-9]+-[0-9][0-9]-([0-9][0-9])', 1) AS INT) AS "day",
          TRY_CAST(REGEXP_EXTRACT("shown", ' ([0-9][0-9])h$', 1) AS INT) AS "hour",
          TRY_CAST(REGEXP_EXTRACT("shown", '-Q([1-4])$', 1) AS INT) AS "quarter",
          TRY_CAST(REGEXP_EXTRACT("shown", '-W([0-9][0-9])$', 1) AS INT) AS "week",
          CASE WHEN "shown" LIKE '%**' THEN 100 WHEN "shown" LIKE '%*' THEN 10 ELSE 1 END AS "years"
        FROM "shown"
        WHERE
          REGEXP_MATCHES(
            "shown",
            '^-?([0-9]{4,}(-Q[1-4]|-W[0-9][0-9]|-[0-9][0-9]|-[0-9][0-9]-[0-9][0-9]|-[0-9][0-9]-[0-9][0-9] [0-9][0-9]h)?|[0-9]{3,}\*|[0-9]{2,}\*\*)$'
          )
      ), "first" AS (
        SELECT
          *, CASE WHEN "sign" > 0 THEN "year" * "years" ELSE -("year" * "years" + "years" - 1) END AS "first_year",
          CASE WHEN "sign" > 0 THEN "year" * "years" + "years" - 1 ELSE -("year" * "years") END AS "last_year"
        FROM "part"
      )
      SELECT
        "label",
        CASE
          WHEN NOT "hour" IS NULL THEN CAST(MAKE_DATE("first_year", "month", "day") AS TIMESTAMP) + to_hours("hour")
          WHEN NOT "day" IS NULL THEN CAST(MAKE_DATE("first_year", "month", "day") AS TIMESTAMP)
          WHEN NOT "month" IS NULL THEN CAST(MAKE_DATE("first_year", "month", 1) AS TIMESTAMP)
          WHEN NOT "quarter" IS NULL THEN CAST(MAKE_DATE("first_year", 3 * "quarter" - 2, 1) AS TIMESTAMP)
          WHEN NOT "week" IS NULL
          THEN CAST(MAKE_DATE("first_year", 1, 4) + CAST(7 * (
            "week" - 1
          ) + 1 - ISODOW(MAKE_DATE("first_year", 1, 4)) AS INT) AS TIMESTAMP)
          ELSE CAST(MAKE_DATE("first_year", 1, 1) AS TIMESTAMP)
        END AS "low",
        CASE
          WHEN NOT "hour" IS NULL THEN CAST(MAKE_DATE("first_year", "month", "day") AS TIMESTAMP) + to_hours("hour" + 1)
          WHEN NOT "day" IS NULL THEN CAST(MAKE_DATE("first_year", "month", "day") AS TIMESTAMP) + TO_DAYS(1)
          WHEN NOT "month" IS NULL THEN CAST(MAKE_DATE("first_year", "month", 1) AS TIMESTAMP) + to_months(1)
          WHEN NOT "quarter" IS NULL
          THEN CAST(MAKE_DATE("first_year", 3 * "quarter" - 2, 1) AS TIMESTAMP) + to_months(3)
          WHEN NOT "week" IS NULL
          THEN CAST(MAKE_DATE("first_year", 1, 4) + CAST(7 * "week" + 1 - ISODOW(MAKE_DATE("first_year", 1, 4)) AS INT) AS TIMESTAMP)
          ELSE CAST(MAKE_DATE("last_year" + 1, 1, 1) AS TIMESTAMP)
        END AS "high"
      FROM "first"
    ) AS "period"
    UNION ALL
    SELECT
      "label", "at" AS "low", 0 AS "low_side", "at" AS "high", 1 AS "high_side", TRUE AS "known", FALSE AS "open_low",
      FALSE AS "open_high", CAST(NULL AS TEXT) AS "mask"
    FROM (
      SELECT
        "label",
        TRY(
          CASE
            WHEN NOT ISINF(TRY_CAST(("shown") AS DATE))
            THEN CAST(DATE_DIFF('DAY', CAST('1970-01-01' AS DATE), TRY_CAST(("shown") AS DATE)) AS INT128)
            WHEN TRY_CAST(("shown") AS DATE) > CAST('1970-01-01' AS DATE) THEN CAST(2147483647 AS INT128)
            WHEN NOT TRY_CAST(("shown") AS DATE) IS NULL THEN CAST(-2147483647 AS INT128)
          END
        ) AS "at"
      FROM "shown"
      WHERE "shown" IN ('infinity', '-infinity')
    ) AS "point"
    WHERE NOT "at" IS NULL
  ) AS "all_spans"
) AS "span"
WHERE "low" <= CAST('2147483647' AS INT128) AND "high" >= CAST('-2147483647' AS INT128);
