-- Look for: rows find their bucket over all slots; how large buckets are is counted from the rows.

CREATE TEMPORARY TABLE "__sqlanon_rows_in_buckets_1" AS
SELECT "number"."bucket", "row"."code_0", "row"."column_0", "row"."column_1", "row"."column_2"
FROM "__sqlanon_rows_in_slots_1" AS "row"
JOIN "__sqlanon_all_numbers_1" AS "number" ON "row"."slot" = "number"."slot";

SELECT COUNT(*), COALESCE(MIN("n"), 0), COALESCE(MAX("n"), 0), COALESCE(CAST(SUM("n") AS BIGINT), 0)
FROM (SELECT COUNT(*) AS "n" FROM "__sqlanon_rows_in_buckets_1" AS "rows_in_buckets" GROUP BY "bucket") AS "bucket";
