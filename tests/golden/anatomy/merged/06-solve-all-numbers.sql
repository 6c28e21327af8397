-- Look for: a slot has the number of the bucket that it was put into.

CREATE TEMPORARY TABLE "__sqlanon_all_numbers_1" AS
SELECT "slot"."slot", "number"."bucket"
FROM "__sqlanon_slots_3" AS "slot"
JOIN "__sqlanon_numbers_1" AS "number" ON "slot"."first" = "number"."slot";
