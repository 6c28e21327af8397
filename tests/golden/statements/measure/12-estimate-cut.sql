-- Look for: the constants of all queries of a column together, each once per list; that of texts is the text itself.

CREATE TEMPORARY TABLE "__sqlanon_cut_1" AS
SELECT
  TRY(
    CASE
      WHEN NOT ISINF(TRY_CAST((
        "text"
      ) AS DATE))
      THEN CAST(DATE_DIFF('DAY', CAST('1970-01-01' AS DATE), TRY_CAST((
        "text"
      ) AS DATE)) AS INT128)
      WHEN TRY_CAST((
        "text"
      ) AS DATE) > CAST('1970-01-01' AS DATE)
      THEN CAST(2147483647 AS INT128)
      WHEN NOT TRY_CAST((
        "text"
      ) AS DATE) IS NULL
      THEN CAST(-2147483647 AS INT128)
    END
  ) AS "at"
FROM (
  SELECT DISTINCT
    UNNEST(
      [
        CAST(TRY((
          '1940-04-02'
        )) AS TEXT),
        CAST(TRY((
          '1940-06-07'
        )) AS TEXT),
        CAST(TRY((
          '1940-06-30'
        )) AS TEXT),
        CAST(TRY((
          '1950-05-05'
        )) AS TEXT),
        CAST(TRY((
          '1950-05-30'
        )) AS TEXT),
        CAST(TRY((
          '1950-06-05'
        )) AS TEXT),
        CAST(TRY((
          '1950-06-12'
        )) AS TEXT),
        CAST(TRY((
          '1950-06-20'
        )) AS TEXT),
        CAST(TRY((
          '1940-04-20'
        )) AS TEXT),
        CAST(TRY((
          '1940-06-05'
        )) AS TEXT),
        CAST(TRY((
          '1940-06-25'
        )) AS TEXT),
        CAST(TRY((
          '1950-05-10'
        )) AS TEXT),
        CAST(TRY((
          '1940-04-01'
        )) AS TEXT),
        CAST(TRY((
          '1950-05-02'
        )) AS TEXT),
        CAST(TRY((
          '1940-04-10'
        )) AS TEXT),
        CAST(TRY((
          '1958-12-11'
        )) AS TEXT),
        CAST(TRY((
          '1950-06-02'
        )) AS TEXT)
      ]
    ) AS "text"
) AS "constant"
WHERE
  NOT "text" IS NULL
UNION
SELECT
  (
    TRY(
      CASE
        WHEN NOT ISINF(TRY_CAST((
          "text"
        ) AS DATE))
        THEN CAST(DATE_DIFF('DAY', CAST('1970-01-01' AS DATE), TRY_CAST((
          "text"
        ) AS DATE)) AS INT128)
        WHEN TRY_CAST((
          "text"
        ) AS DATE) > CAST('1970-01-01' AS DATE)
        THEN CAST(2147483647 AS INT128)
        WHEN NOT TRY_CAST((
          "text"
        ) AS DATE) IS NULL
        THEN CAST(-2147483647 AS INT128)
      END
    )
  ) + CASE
    WHEN COALESCE(
      TRY(TRY_CAST("text" AS TIMESTAMP) = CAST(TRY_CAST("text" AS TIMESTAMP) AS DATE)),
      TRUE
    )
    THEN 0
    ELSE 1
  END AS "at"
FROM (
  SELECT DISTINCT
    UNNEST(
      [
        CAST(TRY((
          '1940-04-02'
        )) AS TEXT),
        CAST(TRY((
          '1940-06-07'
        )) AS TEXT),
        CAST(TRY((
          '1940-06-30'
        )) AS TEXT),
        CAST(TRY((
          '1950-05-05'
        )) AS TEXT),
        CAST(TRY((
          '1950-05-30'
        )) AS TEXT),
        CAST(TRY((
          '1950-06-05'
        )) AS TEXT),
        CAST(TRY((
          '1950-06-12'
        )) AS TEXT),
        CAST(TRY((
          '1950-06-20'
        )) AS TEXT),
        CAST(TRY((
          '1940-04-20'
        )) AS TEXT),
        CAST(TRY((
          '1940-06-05'
        )) AS TEXT),
        CAST(TRY((
          '1940-06-25'
        )) AS TEXT),
        CAST(TRY((
          '1950-05-10'
        )) AS TEXT),
        CAST(TRY((
          '1940-04-01'
        )) AS TEXT),
        CAST(TRY((
          '1950-05-02'
        )) AS TEXT),
        CAST(TRY((
          '1940-04-10'
        )) AS TEXT),
        CAST(TRY((
          '1958-12-11'
        )) AS TEXT),
        CAST(TRY((
          '1950-06-02'
        )) AS TEXT)
      ]
    ) AS "text"
) AS "constant"
WHERE
  NOT "text" IS NULL;

CREATE TEMPORARY TABLE "__sqlanon_cut_2" AS
SELECT
  TRY((
    "text"
  )) AS "at"
FROM (
  SELECT DISTINCT
    UNNEST(
      [
        CAST(TRY((
          '94134'
        )) AS TEXT),
        CAST(TRY((
          '94136'
        )) AS TEXT),
        CAST(TRY((
          '94137'
        )) AS TEXT),
        CAST(TRY((
          '94143'
        )) AS TEXT),
        CAST(TRY((
          '94144'
        )) AS TEXT),
        CAST(TRY((
          '94145'
        )) AS TEXT),
        CAST(TRY((
          '94148'
        )) AS TEXT),
        CAST(TRY((
          '94132'
        )) AS TEXT),
        CAST(TRY((
          '94142'
        )) AS TEXT),
        CAST(TRY((
          '94147'
        )) AS TEXT),
        CAST(TRY((
          '94130'
        )) AS TEXT)
      ]
    ) AS "text"
) AS "constant"
WHERE
  NOT "text" IS NULL
UNION
SELECT
  TRY((
    "text"
  )) AS "at"
FROM (
  SELECT DISTINCT
    UNNEST(
      [
        CAST(TRY((
          '94134'
        )) AS TEXT),
        CAST(TRY((
          '94136'
        )) AS TEXT),
        CAST(TRY((
          '94137'
        )) AS TEXT),
        CAST(TRY((
          '94143'
        )) AS TEXT),
        CAST(TRY((
          '94144'
        )) AS TEXT),
        CAST(TRY((
          '94145'
        )) AS TEXT),
        CAST(TRY((
          '94148'
        )) AS TEXT),
        CAST(TRY((
          '94132'
        )) AS TEXT),
        CAST(TRY((
          '94142'
        )) AS TEXT),
        CAST(TRY((
          '94147'
        )) AS TEXT),
        CAST(TRY((
          '94130'
        )) AS TEXT)
      ]
    ) AS "text"
) AS "constant"
WHERE
  NOT "text" IS NULL;
