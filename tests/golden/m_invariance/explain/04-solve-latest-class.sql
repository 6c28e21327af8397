-- Look for: the class in the latest release of the series with the respondent, not in the last one.

CREATE TEMPORARY TABLE "__sqlanon_latest_class_1" AS
SELECT
  "k"."value" AS "respondent",
  MAX("m"."position") AS "position",
  ARG_MAX("m"."class_no", "m"."position") AS "class_no"
FROM "__sqlanon_known_1" AS "k"
JOIN "anon"."series_member" AS "m"
  ON "m"."respondent" = CAST("k"."token" AS UUID)
WHERE
  "m"."series_id" = $1
GROUP BY
  "k"."value";
