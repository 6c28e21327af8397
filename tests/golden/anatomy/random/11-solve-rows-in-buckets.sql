-- Look for: every row with its bucket and its code; the sensitive value itself is not here.

CREATE TEMPORARY TABLE "__sqlanon_rows_in_buckets_1" AS
SELECT "number"."bucket", "row"."code_0", "row"."column_0", "row"."column_1", "row"."column_2"
FROM "__sqlanon_rows_in_slots_1" AS "row"
JOIN "__sqlanon_numbers_1" AS "number" ON "row"."slot" = "number"."slot";
