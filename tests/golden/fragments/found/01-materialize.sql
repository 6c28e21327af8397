-- Look for: no column is in both tables, and neither has a number by which they could be joined; each is sorted by
-- draws of its own.

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT "coded"."dob", CAST("coded"."sex" AS TEXT) AS "sex", CAST("coded"."zip" AS TEXT) AS "zip"
FROM (
  SELECT *
  FROM (
    SELECT "released"."dob", "word_0"."word" AS "sex", "word_1"."word" AS "zip"
    FROM (
      SELECT "source"."dob" AS "dob", "source"."sex" AS "sex", "source"."zip" AS "zip"
      FROM "memory"."main"."patients" AS "source"
    ) AS "released"
    JOIN "__sqlanon_words_1" AS "word_0" ON "released"."sex" IS NOT DISTINCT FROM "word_0"."value"
    JOIN "__sqlanon_words_2" AS "word_1" ON "released"."zip" IS NOT DISTINCT FROM "word_1"."value"
  ) AS "released"
  ORDER BY udf(0) ASC NULLS LAST
) AS "coded";

SELECT APPROX_COUNT_DISTINCT("text_0") FROM ({some-2("disease")}) AS "some";
CREATE TEMPORARY TABLE "__sqlanon_texts_3" AS SELECT DISTINCT "disease" AS "value" FROM "memory"."main"."patients";

CREATE TABLE "memory"."main"."__sqlanon_candidate_2" AS
SELECT CAST("coded"."disease" AS TEXT) AS "disease"
FROM (
  SELECT *
  FROM (
    SELECT "word_0"."word" AS "disease"
    FROM (SELECT "source"."disease" AS "disease" FROM "memory"."main"."patients" AS "source") AS "released"
    JOIN "__sqlanon_words_3" AS "word_0" ON "released"."disease" IS NOT DISTINCT FROM "word_0"."value"
  ) AS "released"
  ORDER BY udf(0) ASC NULLS LAST
) AS "coded";
