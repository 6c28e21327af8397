-- Look for: the ends of the numbers of buckets: where they are the same, all rows are in one bucket, which is a remark.

SELECT
  MIN("bucket"),
  MAX("bucket")
FROM "memory"."main"."__sqlanon_candidate_1";
