-- Look for: the buckets of the last release and of returners alone, each with 128 bits that its set of values makes.

CREATE TEMPORARY TABLE "__sqlanon_class_key_1" AS
SELECT
  "v"."position",
  "v"."class_no",
  BIT_XOR("k"."key") AS "key",
  SUM("v"."n") AS "size",
  MAX("v"."n") AS "n"
FROM (
  SELECT
    "position",
    "class_no",
    "value",
    "n"
  FROM "anon"."series_value"
  WHERE
    "series_id" = $1 AND "position" = $2 AND "attribute" = $3
  UNION ALL
  SELECT
    "v"."position",
    "v"."class_no",
    "v"."value",
    "v"."n"
  FROM "anon"."series_value" AS "v"
  JOIN (
    SELECT DISTINCT
      "position",
      "class_no"
    FROM "__sqlanon_returner_1" AS "returner"
  ) AS "r"
    ON "r"."position" = "v"."position" AND "r"."class_no" = "v"."class_no"
  WHERE
    "v"."series_id" = $1 AND "v"."attribute" = $3
) AS "v"
JOIN (
  SELECT
    "value",
    COALESCE(md5_number("value"), 1) AS "key"
  FROM (
    SELECT DISTINCT
      "value"
    FROM (
      SELECT
        "position",
        "class_no",
        "value",
        "n"
      FROM "anon"."series_value"
      WHERE
        "series_id" = $1 AND "position" = $2 AND "attribute" = $3
      UNION ALL
      SELECT
        "v"."position",
        "v"."class_no",
        "v"."value",
        "v"."n"
      FROM "anon"."series_value" AS "v"
      JOIN (
        SELECT DISTINCT
          "position",
          "class_no"
        FROM "__sqlanon_returner_1" AS "returner"
      ) AS "r"
        ON "r"."position" = "v"."position" AND "r"."class_no" = "v"."class_no"
      WHERE
        "v"."series_id" = $1 AND "v"."attribute" = $3
    ) AS "value_of_class"
  ) AS "each"
) AS "k"
  ON "k"."value" IS NOT DISTINCT FROM "v"."value"
GROUP BY
  "v"."position",
  "v"."class_no";
