-- Look for: only who has no bucket in the last release is looked for in those before, and the latest counts.

CREATE TEMPORARY TABLE "__sqlanon_returner_1" AS
SELECT
  "m"."respondent" AS "token", ANY_VALUE("f"."respondent") AS "respondent", MAX("m"."position") AS "position",
  ARG_MAX("m"."class_no", "m"."position") AS "class_no"
FROM "anon"."series_member" AS "m"
JOIN (SELECT "respondent", "token" FROM "__sqlanon_former_1" AS "former" WHERE "former_class" IS NULL) AS "f"
  ON "f"."token" = "m"."respondent"
WHERE "m"."series_id" = $1 AND "m"."position" < $2
GROUP BY "m"."respondent";
