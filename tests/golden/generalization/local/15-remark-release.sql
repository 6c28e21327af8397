-- Look for: the classes by all keys of the release; the least and the greatest hash, which are one where all rows of a class
-- agree, NULL included; counts are all that is read.

SELECT
  COUNT(*), COUNT(*) FILTER(WHERE "n" = 1), COUNT(*) FILTER(WHERE "n" > 1 AND "same_0"),
  COUNT(*) FILTER(WHERE "n" > 1 AND "known_0")
FROM (
  SELECT
    COUNT(*) AS "n", MIN(hash("disease")) = MAX(hash("disease")) AS "same_0",
    MIN(CASE WHEN NOT "disease" IS NULL THEN hash("disease") END) = MAX(CASE WHEN NOT "disease" IS NULL THEN hash("disease") END)
    AND COUNT("disease") < COUNT(*) AS "known_0"
  FROM "memory"."main"."__sqlanon_candidate_1"
  GROUP BY "sex", "zip"
) AS "class";
