-- Look for: a row has its signature only if the value is one of it; else it has changed.

CREATE TEMPORARY TABLE "__sqlanon_source_row_1" AS
SELECT
  ROW_NUMBER() OVER () AS "row_no", "coded"."code" AS "code", "known"."signature" AS "signature",
  NOT "former"."signature" IS NULL AND "known"."signature" IS NULL AS "changed", "source"."dob" AS "column_0",
  "source"."sex" AS "column_1", "source"."zip" AS "column_2", "source"."number" AS "__sqlanon_respondent"
FROM "temp"."main"."__sqlanon_source_2" AS "source"
JOIN "__sqlanon_value_code_1" AS "coded" ON "source"."disease" IS NOT DISTINCT FROM "coded"."value"
LEFT JOIN "__sqlanon_signature_member_1" AS "former" ON "source"."number" = "former"."entity"
LEFT JOIN "__sqlanon_signature_code_1" AS "known"
  ON "former"."signature" = "known"."signature" AND "coded"."code" = "known"."code";

SELECT
  COALESCE(SUM(CASE WHEN NOT "signature" IS NULL THEN 1 ELSE 0 END), 0) AS "staying",
  COALESCE(SUM(CASE WHEN "changed" THEN 1 ELSE 0 END), 0) AS "changed",
  COALESCE(SUM(CASE WHEN "signature" IS NULL AND NOT "changed" THEN 1 ELSE 0 END), 0) AS "newcomers"
FROM "__sqlanon_source_row_1" AS "source_row";
