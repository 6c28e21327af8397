-- Look for: signatures are equal where all values are, NULL among them; only classes of respondents who are here.

CREATE TEMPORARY TABLE "__sqlanon_class_signature_1" AS
SELECT
  "position",
  "class_no",
  DENSE_RANK() OVER (ORDER BY "signature_values" ASC NULLS LAST) AS "signature",
  "signature_values",
  "n"
FROM (
  SELECT
    "v"."position",
    "v"."class_no",
    ARRAY_AGG("v"."value" ORDER BY "v"."value" ASC NULLS LAST) AS "signature_values",
    MAX("v"."n") AS "n"
  FROM "anon"."series_value" AS "v"
  JOIN (
    SELECT DISTINCT
      "position",
      "class_no"
    FROM "__sqlanon_latest_class_1" AS "latest_class"
  ) AS "c"
    ON "c"."position" = "v"."position" AND "c"."class_no" = "v"."class_no"
  WHERE
    "v"."series_id" = $1 AND "v"."attribute" = $2
  GROUP BY
    "v"."position",
    "v"."class_no"
) AS "class_values";
