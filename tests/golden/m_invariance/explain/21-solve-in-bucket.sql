-- Look for: all that is published of values comes from this table.

CREATE TEMPORARY TABLE "__sqlanon_in_bucket_1" AS
SELECT "p"."row_no", "p"."code", "b"."bucket"
FROM "__sqlanon_placed_1" AS "p"
JOIN "__sqlanon_bucket_1" AS "b" ON "b"."signature" = "p"."signature" AND "b"."place" = "p"."place";
