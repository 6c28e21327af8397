-- Look for: the respondents who are here again, each once.

CREATE TEMPORARY TABLE "__sqlanon_signature_member_1" AS
SELECT
  "person"."entity",
  "signed"."signature"
FROM "__sqlanon_respondent_1" AS "person"
JOIN "__sqlanon_latest_class_1" AS "latest"
  ON "person"."respondent" = "latest"."respondent"
JOIN "__sqlanon_class_signature_1" AS "signed"
  ON "latest"."position" = "signed"."position"
  AND "latest"."class_no" = "signed"."class_no";
