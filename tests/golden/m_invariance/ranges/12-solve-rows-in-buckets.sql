-- Look for: every row and counterfeit with its value; the respondent is NULL for a counterfeit.

CREATE TEMPORARY TABLE "__sqlanon_rows_in_buckets_1" AS
SELECT "dealt"."bucket", "row"."__sqlanon_respondent", "dealt"."code"
FROM "__sqlanon_in_bucket_1" AS "dealt"
LEFT JOIN "__sqlanon_source_row_1" AS "row" ON "row"."row_no" = "dealt"."row_no";
