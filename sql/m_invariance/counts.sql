-- The numbers of buckets, rows and counterfeits of the release: buckets, n, counterfeits; one row.
SELECT (SELECT count(*) FROM bucket) AS buckets, count(row_no) AS n, count(*) - count(row_no) AS counterfeits FROM in_bucket
