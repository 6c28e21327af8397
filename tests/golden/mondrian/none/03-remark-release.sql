-- Look for:

SELECT
  COUNT(*),
  COUNT(*) FILTER(WHERE
    "n" = 1),
  COUNT(*) FILTER(WHERE
    "n" > 1 AND "same_0")
FROM (
  SELECT
    COUNT(*) AS "n",
    MIN(hash("disease")) = MAX(hash("disease")) AS "same_0"
  FROM "main"."__sqlanon_candidate_1"
  GROUP BY
    "bucket"
) AS "class";
