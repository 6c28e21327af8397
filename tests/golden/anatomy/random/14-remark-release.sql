-- Look for: the ends of the numbers of buckets: where they are the same, all rows are in one bucket, which is a remark.

SELECT
  MIN("bucket"),
  MAX("bucket")
FROM "memory"."main"."__sqlanon_candidate_1";

SELECT
  COUNT(*),
  COUNT(*) FILTER(WHERE
    "n" = 1),
  COUNT(*) FILTER(WHERE
    "n" > 1 AND "same_0"),
  COUNT(*) FILTER(WHERE
    "n" > 1 AND "known_0")
FROM (
  SELECT
    COUNT(*) AS "n",
    MIN(hash("value")) = MAX(hash("value")) AS "same_0",
    MIN(CASE WHEN NOT "value" IS NULL THEN hash("value") END) = MAX(CASE WHEN NOT "value" IS NULL THEN hash("value") END)
    AND COUNT("value") < COUNT(*) AS "known_0"
  FROM "memory"."main"."__sqlanon_candidate_2"
  GROUP BY
    "bucket"
) AS "class";
