-- Look for: NULL has a code, the last.

CREATE TEMPORARY TABLE "__sqlanon_sensitive_code_0_1" AS
SELECT "value_0", ROW_NUMBER() OVER (ORDER BY "value_0" IS NULL ASC NULLS LAST, "value_0" ASC NULLS LAST) AS "code"
FROM (SELECT DISTINCT "value_0" FROM "__sqlanon_class_value_0_1" AS "class_value_0") AS "occurring";
