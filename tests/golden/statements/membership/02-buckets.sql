-- Look for: the products of numbers before anything is joined; then one GROUP BY for tuples that match and those of the
-- source, so that NULL is a value.

CREATE TEMPORARY TABLE "__sqlanon_buckets_1" AS
SELECT DISTINCT "bucket" AS "link_0"
FROM (SELECT * FROM "memory"."main"."hospital_release_qi") AS "published";

SELECT COALESCE(SUM("column_0"."n" * "column_1"."n"), 0) AS "most"
FROM "__sqlanon_buckets_1" AS "bucket"
JOIN ({column_0("__sqlanon_values_1")}) AS "column_0" ON "bucket"."link_0" = "column_0"."link_0"
JOIN ({column_0("__sqlanon_values_2")}) AS "column_1" ON "bucket"."link_0" = "column_1"."link_0";

WITH "matched_tuples" AS (
  WITH "either" AS (
    SELECT "attribute_0", "attribute_1", "attribute_2", "attribute_3", TRUE AS "matches"
    FROM (
      SELECT
        "column_0"."attribute_0" AS "attribute_0", "column_0"."attribute_1" AS "attribute_1",
        "column_0"."attribute_2" AS "attribute_2", "column_1"."attribute_3" AS "attribute_3"
      FROM "__sqlanon_buckets_1" AS "bucket"
      JOIN "__sqlanon_values_1" AS "column_0" ON "bucket"."link_0" = "column_0"."link_0"
      JOIN "__sqlanon_values_2" AS "column_1" ON "bucket"."link_0" = "column_1"."link_0"
    ) AS "joined"
    UNION ALL
    SELECT "attribute_0", "attribute_1", "attribute_2", "attribute_3", FALSE AS "matches"
    FROM (
      SELECT "dob" AS "attribute_0", "sex" AS "attribute_1", "zip" AS "attribute_2", "disease" AS "attribute_3"
      FROM (
        SELECT "dob" AS "dob", "sex" AS "sex", "zip" AS "zip", "disease" AS "disease"
        FROM "memory"."main"."patients"
      ) AS "source"
    ) AS "source"
  ), "matched" AS (
    SELECT BOOL_OR(CAST(NOT "matches" AS BOOLEAN)) AS "is_original", COUNT(*) FILTER(WHERE "matches") AS "buckets"
    FROM "either"
    GROUP BY "attribute_0", "attribute_1", "attribute_2", "attribute_3"
    HAVING COUNT(*) FILTER(WHERE "matches") > 0
  )
  SELECT "is_original", "buckets", CAST(COUNT(*) AS DOUBLE) AS "n"
  FROM "matched"
  GROUP BY "is_original", "buckets"
)
SELECT
  "is_original", SUM("n") AS "tuples", SUM("n" * "buckets") / SUM("n") AS "matching_buckets",
  SUM(CASE WHEN "buckets" <= 10 THEN "n" ELSE 0.0 END) / SUM("n") AS "at_most_10",
  SUM(CASE WHEN "buckets" BETWEEN 11 AND 20 THEN "n" ELSE 0.0 END) / SUM("n") AS "from_11_to_20",
  SUM(CASE WHEN "buckets" > 20 THEN "n" ELSE 0.0 END) / SUM("n") AS "above_20"
FROM "matched_tuples"
WHERE "n" > 0
GROUP BY "is_original";
