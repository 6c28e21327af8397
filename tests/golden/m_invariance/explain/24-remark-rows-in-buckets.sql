-- Look for: the first and the last number of a bucket.

SELECT MIN("bucket"), MAX("bucket")
FROM (
  SELECT "source"."bucket" AS "bucket"
  FROM (
    SELECT "column_0" AS "dob", "column_1" AS "sex", "column_2" AS "zip", "bucket" AS "bucket", "__sqlanon_respondent"
    FROM "__sqlanon_rows_in_buckets_1"
  ) AS "source"
) AS "planned";
