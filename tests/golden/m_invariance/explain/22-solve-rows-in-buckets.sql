-- Look for: the wide rows, joined once by their number; counterfeits have none.

CREATE TEMPORARY TABLE "__sqlanon_rows_in_buckets_1" AS
SELECT "dealt"."bucket", "row"."__sqlanon_respondent", "row"."column_0", "row"."column_1", "row"."column_2"
FROM "__sqlanon_in_bucket_1" AS "dealt"
JOIN "__sqlanon_source_row_1" AS "row" ON "row"."row_no" = "dealt"."row_no";
