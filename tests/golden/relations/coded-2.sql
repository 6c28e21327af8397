SELECT *
FROM (
  SELECT "released"."bucket", "word_0"."word" AS "sex", "word_1"."word" AS "disease"
  FROM (
    SELECT "number"."bucket" AS "bucket", "value_0"."value" AS "sex", "value_1"."value" AS "disease"
    FROM {#1} AS "point"
    JOIN "__sqlanon_numbers_1" AS "number" ON "point"."region" = "number"."region"
    JOIN "__sqlanon_ranked_2" AS "value_0" ON "value_0"."rank_0" = "point"."r_1"
    JOIN "__sqlanon_values_1" AS "value_1" ON "value_1"."rank_0" = "point"."other_0"
  ) AS "released"
  JOIN "__sqlanon_words_2" AS "word_0" ON "released"."sex" IS NOT DISTINCT FROM "word_0"."value"
  JOIN "__sqlanon_words_3" AS "word_1" ON "released"."disease" IS NOT DISTINCT FROM "word_1"."value"
) AS "released"
ORDER BY "bucket" ASC NULLS LAST, udf(0) ASC NULLS LAST
