-- Look for: a value a row, in the type of the column; whether the series is m-unique is read from it.

CREATE TEMPORARY TABLE "__sqlanon_signature_value_1" AS
SELECT "signature", CAST("text" AS TEXT) AS "value", "n"
FROM (
  SELECT "s"."signature", "v"."value" AS "text", "s"."n"
  FROM "__sqlanon_signature_1" AS "s"
  JOIN "anon"."series_value" AS "v" ON "v"."value_set" = "s"."key"
  WHERE "v"."series_id" = $1 AND "v"."attribute" = $2
) AS "of_signature";

SELECT
  COALESCE(SUM(CASE WHEN "most" > 1 THEN 1 ELSE 0 END), 0) AS "repeated",
  COALESCE(SUM(CASE WHEN "size" < 2 THEN 1 ELSE 0 END), 0) AS "small"
FROM (
  SELECT "signature", MAX("n") AS "most", COUNT(*) AS "size"
  FROM "__sqlanon_signature_value_1" AS "signature_value"
  GROUP BY "signature"
) AS "each";
