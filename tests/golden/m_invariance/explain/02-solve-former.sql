-- Look for: each patient of the source once, with a keyed digest and the bucket in the last release; the key is in no text.

CREATE TEMPORARY TABLE "__sqlanon_former_1" AS
SELECT "k"."respondent", "k"."token", "m"."class_no" AS "former_class"
FROM (
  SELECT "respondent", CAST(udf(CAST("respondent" AS TEXT)) AS UUID) AS "token"
  FROM (SELECT DISTINCT "number" AS "respondent" FROM "temp"."main"."__sqlanon_source_2") AS "people"
) AS "k"
LEFT JOIN (
  SELECT "respondent", "class_no"
  FROM "anon"."series_member"
  WHERE "series_id" = $1 AND "position" = $2
) AS "m" ON "m"."respondent" = "k"."token";
