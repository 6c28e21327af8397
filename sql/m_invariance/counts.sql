-- What came of it: the buckets, the rows and the counterfeits.
SELECT (SELECT count(*) FROM bucket) AS buckets, count(row_no) AS n, count(*) - count(row_no) AS counterfeits FROM in_bucket
