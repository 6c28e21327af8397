-- Look for: the buckets of the last release and of returners alone, each with 128 bits that its set of values makes.

CREATE TEMPORARY TABLE "__sqlanon_class_key_1" AS
SELECT "c"."position", "c"."class_no", "c"."value_set" AS "key", "s"."size", "s"."n"
FROM (
  SELECT "position", "class_no", "value_set"
  FROM "anon"."series_class"
  WHERE "series_id" = $1 AND "position" = $2 AND "attribute" = $3
  UNION ALL
  SELECT "c"."position", "c"."class_no", "c"."value_set"
  FROM "anon"."series_class" AS "c"
  JOIN (SELECT DISTINCT "position", "class_no" FROM "__sqlanon_returner_1" AS "returner") AS "r"
    ON "r"."position" = "c"."position" AND "r"."class_no" = "c"."class_no"
  WHERE "c"."series_id" = $1 AND "c"."attribute" = $3
) AS "c"
JOIN (
  SELECT "value_set", SUM("n") AS "size", MAX("n") AS "n"
  FROM "anon"."series_value"
  WHERE "series_id" = $1 AND "attribute" = $3
  GROUP BY "value_set"
) AS "s" ON "s"."value_set" = "c"."value_set";
