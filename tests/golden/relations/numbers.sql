SELECT "value", "level", "label", CAST(DENSE_RANK() OVER (ORDER BY "label" ASC NULLS LAST) - 1 AS BIGINT) AS "code"
FROM (
  SELECT "value", 0 AS "level", "label_0" AS "label"
  FROM "labelled"
  UNION ALL
  SELECT "value", 1 AS "level", "label_1" AS "label"
  FROM "labelled"
) AS "shown"
