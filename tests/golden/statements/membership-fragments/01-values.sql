-- Look for: no link, so that all combinations match: their number is a product, and only the source's are looked up.

CREATE TEMPORARY TABLE "__sqlanon_values_1" AS
SELECT DISTINCT "dob" AS "attribute_0", "sex" AS "attribute_1", "zip" AS "attribute_2"
FROM (SELECT * FROM "memory"."main"."hospital_release_1") AS "published";

CREATE TEMPORARY TABLE "__sqlanon_values_2" AS
SELECT DISTINCT "disease" AS "attribute_3"
FROM (SELECT * FROM "memory"."main"."hospital_release_2") AS "published";

SELECT COALESCE(SUM("column_0"."n" * "column_1"."n"), 0) AS "most"
FROM (SELECT CAST(COUNT(*) AS DOUBLE) AS "n" FROM "__sqlanon_values_1" AS "value") AS "column_0"
CROSS JOIN (SELECT CAST(COUNT(*) AS DOUBLE) AS "n" FROM "__sqlanon_values_2" AS "value") AS "column_1";

WITH "matched_tuples" AS (
  WITH "counted" AS (
    SELECT CAST(COUNT(*) AS DOUBLE) AS "n"
    FROM (
      SELECT 1 AS "one"
      FROM (
        SELECT DISTINCT
          "dob" AS "attribute_0", "sex" AS "attribute_1", "zip" AS "attribute_2", "disease" AS "attribute_3"
        FROM (
          SELECT "dob" AS "dob", "sex" AS "sex", "zip" AS "zip", "disease" AS "disease"
          FROM "memory"."main"."patients"
        ) AS "source"
      ) AS "source"
      JOIN "__sqlanon_values_1" AS "column_0"
        ON "source"."attribute_0" IS NOT DISTINCT FROM "column_0"."attribute_0"
        AND "source"."attribute_1" IS NOT DISTINCT FROM "column_0"."attribute_1"
        AND "source"."attribute_2" IS NOT DISTINCT FROM "column_0"."attribute_2"
      JOIN "__sqlanon_values_2" AS "column_1" ON "source"."attribute_3" IS NOT DISTINCT FROM "column_1"."attribute_3"
    ) AS "original"
  )
  SELECT TRUE AS "is_original", 1 AS "buckets", "n"
  FROM "counted"
  UNION ALL
  SELECT FALSE AS "is_original", 1 AS "buckets", CAST(153.0 AS DOUBLE) - "n" AS "n"
  FROM "counted"
)
SELECT
  "is_original", SUM("n") AS "tuples", SUM("n" * "buckets") / SUM("n") AS "matching_buckets",
  SUM(CASE WHEN "buckets" <= 10 THEN "n" ELSE 0.0 END) / SUM("n") AS "at_most_10",
  SUM(CASE WHEN "buckets" BETWEEN 11 AND 20 THEN "n" ELSE 0.0 END) / SUM("n") AS "from_11_to_20",
  SUM(CASE WHEN "buckets" > 20 THEN "n" ELSE 0.0 END) / SUM("n") AS "above_20"
FROM "matched_tuples"
WHERE "n" > 0
GROUP BY "is_original";
