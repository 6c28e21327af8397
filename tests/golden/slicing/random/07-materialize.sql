-- Look for: COLUMNS EACH: a table with one attribute and the bucket, each in an order of its own.

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT *
FROM ({released("dob", "__sqlanon_ranked_1", "r_0")}) AS "released"
ORDER BY "bucket" ASC NULLS LAST, udf(0) ASC NULLS LAST;

SELECT APPROX_COUNT_DISTINCT("text_0") FROM ({some-2("sex")}) AS "some";

CREATE TABLE "memory"."main"."__sqlanon_candidate_2" AS
SELECT "coded"."bucket", CAST("coded"."sex" AS TEXT) AS "sex"
FROM (
  SELECT *
  FROM (
    SELECT "released"."bucket", "word_0"."word" AS "sex"
    FROM ({released("sex", "__sqlanon_ranked_2", "r_1")}) AS "released"
    JOIN "__sqlanon_words_1" AS "word_0" ON "released"."sex" IS NOT DISTINCT FROM "word_0"."value"
  ) AS "released"
  ORDER BY "bucket" ASC NULLS LAST, udf(0) ASC NULLS LAST
) AS "coded";

CREATE TABLE "memory"."main"."__sqlanon_candidate_3" AS
SELECT "coded"."bucket", CAST("coded"."zip" AS TEXT) AS "zip"
FROM (
  SELECT *
  FROM (
    SELECT "released"."bucket", "word_0"."word" AS "zip"
    FROM ({released("zip", "__sqlanon_ranked_3", "r_2")}) AS "released"
    JOIN "__sqlanon_words_2" AS "word_0" ON "released"."zip" IS NOT DISTINCT FROM "word_0"."value"
  ) AS "released"
  ORDER BY "bucket" ASC NULLS LAST, udf(0) ASC NULLS LAST
) AS "coded";

CREATE TABLE "memory"."main"."__sqlanon_candidate_4" AS
SELECT "coded"."bucket", CAST("coded"."disease" AS TEXT) AS "disease"
FROM (
  SELECT *
  FROM (
    SELECT "released"."bucket", "word_0"."word" AS "disease"
    FROM ({released("disease", "__sqlanon_values_1", "other_0")}) AS "released"
    JOIN "__sqlanon_words_3" AS "word_0" ON "released"."disease" IS NOT DISTINCT FROM "word_0"."value"
  ) AS "released"
  ORDER BY "bucket" ASC NULLS LAST, udf(0) ASC NULLS LAST
) AS "coded";
