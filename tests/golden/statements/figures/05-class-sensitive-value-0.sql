-- Look for: values become their codes, so that a figure never sees NULL.

CREATE TEMPORARY TABLE "__sqlanon_class_sensitive_value_0_1" AS
SELECT "counted"."class_id", "coded"."code" AS "value", "counted"."n"
FROM "__sqlanon_class_value_0_1" AS "counted"
JOIN "__sqlanon_sensitive_code_0_1" AS "coded" ON "counted"."value_0" IS NOT DISTINCT FROM "coded"."value_0";
