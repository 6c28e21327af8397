SELECT *
FROM (
  SELECT "released"."bucket", "released"."dob", "word_0"."word" AS "zip"
  FROM (
    SELECT "number"."bucket" AS "bucket", "value_0"."value" AS "dob", "value_1"."value" AS "zip"
    FROM {#1} AS "point"
    JOIN "__sqlanon_numbers_1" AS "number" ON "point"."region" = "number"."region"
    JOIN "__sqlanon_ranked_1" AS "value_0" ON "value_0"."rank_0" = "point"."r_0"
    JOIN "__sqlanon_ranked_3" AS "value_1" ON "value_1"."rank_0" = "point"."r_2"
  ) AS "released"
  JOIN "__sqlanon_words_1" AS "word_0" ON "released"."zip" IS NOT DISTINCT FROM "word_0"."value"
) AS "released"
ORDER BY "bucket" ASC NULLS LAST, udf(0) ASC NULLS LAST
