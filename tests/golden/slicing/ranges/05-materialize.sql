-- Look for: ranges are found by the ranks of their own column, values by their codes.

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT *
FROM (
  SELECT "number"."bucket" AS "bucket", "range"."label_0" AS "dob", "range"."label_1" AS "zip"
  FROM "__sqlanon_points_done_1" AS "point"
  JOIN "__sqlanon_numbers_1" AS "number" ON "point"."region" = "number"."region"
  JOIN "__sqlanon_column_ranges_1" AS "range" ON "range"."r_0" = "point"."r_0" AND "range"."r_1" = "point"."r_2"
) AS "released"
ORDER BY "bucket" ASC NULLS LAST, udf(0) ASC NULLS LAST;

CREATE TABLE "memory"."main"."__sqlanon_candidate_2" AS
SELECT "coded"."bucket", "coded"."sex", CAST("coded"."disease" AS TEXT) AS "disease"
FROM (
  SELECT *
  FROM (
    SELECT "released"."bucket", "released"."sex", "word_0"."word" AS "disease"
    FROM (
      SELECT "number"."bucket" AS "bucket", "range"."label_0" AS "sex", "value_1"."value" AS "disease"
      FROM "__sqlanon_points_done_1" AS "point"
      JOIN "__sqlanon_numbers_1" AS "number" ON "point"."region" = "number"."region"
      JOIN "__sqlanon_column_ranges_2" AS "range" ON "range"."r_0" = "point"."r_1"
      JOIN "__sqlanon_values_1" AS "value_1" ON "value_1"."rank_0" = "point"."other_0"
    ) AS "released"
    JOIN "__sqlanon_words_1" AS "word_0" ON "released"."disease" IS NOT DISTINCT FROM "word_0"."value"
  ) AS "released"
  ORDER BY "bucket" ASC NULLS LAST, udf(0) ASC NULLS LAST
) AS "coded";
