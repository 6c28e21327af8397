-- Look for: the ends of the numbers of buckets: where they are the same, all rows are in one bucket, which is a remark.

SELECT MIN("bucket"), MAX("bucket") FROM "memory"."main"."__sqlanon_candidate_1";

SELECT
  COUNT(*), COUNT(*) FILTER(WHERE "n" = 1), COUNT(*) FILTER(WHERE "n" > 1 AND "same_0"),
  COUNT(*) FILTER(WHERE "n" > 1 AND "known_0")
FROM ({class-2("value", "__sqlanon_candidate_2")}) AS "class";
