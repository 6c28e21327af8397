-- Look for: fragments with a group and no row number; the association has numbers of groups only; three orders, drawn
-- independently.

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT "coded"."dob", CAST("coded"."sex" AS TEXT) AS "sex", CAST("coded"."zip" AS TEXT) AS "zip", "coded"."group_id"
FROM (
  SELECT *
  FROM (
    SELECT "released"."dob", "word_0"."word" AS "sex", "word_1"."word" AS "zip", "released"."group_id"
    FROM (
      SELECT
        "row"."value_0" AS "dob", "row"."value_1" AS "sex", "row"."value_2" AS "zip", "grouped"."group_0" AS "group_id"
      FROM ({row}) AS "row"
      JOIN "__sqlanon_groups_1" AS "grouped" ON "row"."row" = "grouped"."row"
    ) AS "released"
    JOIN "__sqlanon_words_1" AS "word_0" ON "released"."sex" IS NOT DISTINCT FROM "word_0"."value"
    JOIN "__sqlanon_words_2" AS "word_1" ON "released"."zip" IS NOT DISTINCT FROM "word_1"."value"
  ) AS "released"
  ORDER BY udf(0) ASC NULLS LAST
) AS "coded";

CREATE TABLE "memory"."main"."__sqlanon_candidate_2" AS
SELECT CAST("coded"."disease" AS TEXT) AS "disease", "coded"."group_id"
FROM (
  SELECT *
  FROM (
    SELECT "word_0"."word" AS "disease", "released"."group_id"
    FROM (
      SELECT "row"."value_3" AS "disease", "grouped"."group_1" AS "group_id"
      FROM ({row}) AS "row"
      JOIN "__sqlanon_groups_1" AS "grouped" ON "row"."row" = "grouped"."row"
    ) AS "released"
    JOIN "__sqlanon_words_3" AS "word_0" ON "released"."disease" IS NOT DISTINCT FROM "word_0"."value"
  ) AS "released"
  ORDER BY udf(0) ASC NULLS LAST
) AS "coded";

CREATE TABLE "memory"."main"."__sqlanon_candidate_3" AS
SELECT *
FROM (SELECT "group_0" AS "group_1", "group_1" AS "group_2" FROM "__sqlanon_groups_1") AS "released"
ORDER BY udf(0) ASC NULLS LAST;
