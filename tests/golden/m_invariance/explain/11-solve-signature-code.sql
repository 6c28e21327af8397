-- Look for: NULL is a value of a signature like others.

CREATE TEMPORARY TABLE "__sqlanon_signature_code_1" AS
SELECT "s"."signature", "c"."code"
FROM "__sqlanon_signature_value_1" AS "s"
JOIN "__sqlanon_value_code_1" AS "c" ON "c"."value" IS NOT DISTINCT FROM "s"."value";
