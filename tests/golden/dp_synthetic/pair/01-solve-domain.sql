-- Look for: the values of a number are intervals between both ends, and have their ends beside the label. Rows are
-- counted once, by the codes of all columns.

CREATE TEMPORARY TABLE "__sqlanon_domain_2" AS
SELECT CAST(ROW_NUMBER() OVER (ORDER BY "label" ASC NULLS LAST) - 1 AS INT) AS "code", "label", "least", "beyond"
FROM (
  SELECT "label", MIN("least") AS "least", MIN("beyond") AS "beyond"
  FROM (
    SELECT
      CASE
        WHEN CAST(CAST("least" AS BIGINT) AS BIGINT) < 0 THEN '(-inf,0)'
        WHEN CAST(CAST("least" AS BIGINT) AS BIGINT) >= 100 THEN '[100,inf)'
        ELSE '[' || CAST((CAST(CAST("least" AS BIGINT) AS BIGINT) // 50) * 50 AS TEXT) || ',' || CAST((
          (CAST(CAST("least" AS BIGINT) AS BIGINT) // 50) * 50
        ) + 50 AS TEXT) || ')'
      END AS "label",
      "least", "beyond"
    FROM "__sqlanon_interval_1"
    UNION ALL
    SELECT CAST(NULL AS TEXT) AS "label", NULL AS "least", NULL AS "beyond"
  ) AS "label"
  GROUP BY "label"
) AS "label";

SELECT "c0", "c1", COUNT(*) AS "n"
FROM (
  WITH "code_0" AS ({code_0}), "code_1" AS (
    SELECT "valued"."value", "coded"."code"
    FROM (
      SELECT
        "value",
        CASE
          WHEN CAST("value" AS BIGINT) < 0 THEN '(-inf,0)'
          WHEN CAST("value" AS BIGINT) >= 100 THEN '[100,inf)'
          ELSE '[' || CAST((CAST("value" AS BIGINT) // 50) * 50 AS TEXT) || ',' || CAST((
            (CAST("value" AS BIGINT) // 50) * 50
          ) + 50 AS TEXT) || ')'
        END AS "label"
      FROM ({counted-5("age", "aged")}) AS "occurring"
    ) AS "valued"
    JOIN "__sqlanon_domain_2" AS "coded" ON "valued"."label" IS NOT DISTINCT FROM "coded"."label"
  )
  SELECT COALESCE("code_0"."code", 2) AS "c0", COALESCE("code_1"."code", 2) AS "c1"
  FROM "memory"."main"."aged" AS "source"
  LEFT JOIN "code_0" ON "source"."sex" IS NOT DISTINCT FROM "code_0"."value"
  LEFT JOIN "code_1" ON "source"."age" IS NOT DISTINCT FROM "code_1"."value"
) AS "counted"
GROUP BY "c0", "c1";

SELECT "code", "least", "beyond" FROM "__sqlanon_domain_2";
