SELECT "value", "label" AS "label", CAST(DENSE_RANK() OVER (ORDER BY "label" ASC NULLS LAST) - 1 AS BIGINT) AS "code"
FROM (
  SELECT "value", LEFT(CAST("value" AS TEXT), 3) || REPEAT('*', LENGTH(CAST("value" AS TEXT)) - 3) AS "label"
  FROM (SELECT DISTINCT "zip" AS "value" FROM "source") AS "occurring"
) AS "labelled"
