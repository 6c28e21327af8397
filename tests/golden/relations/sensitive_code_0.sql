SELECT
  "value_0",
  "system"."main".row_number() OVER (ORDER BY ("value_0" IS NULL) ASC NULLS LAST, "value_0" ASC NULLS LAST) AS "code"
FROM (SELECT DISTINCT "value_0" FROM "class_value_0") AS "occurring"
