-- Look for: buckets numbered anew in a drawn order: their numbers tell nothing of the order in which they were dealt.

CREATE TEMPORARY TABLE "__sqlanon_numbers_1" AS
SELECT "slot", ROW_NUMBER() OVER (ORDER BY "draw" ASC NULLS LAST) AS "bucket"
FROM (SELECT "slot", udf(0) AS "draw" FROM "__sqlanon_slots_1" AS "slots" WHERE "slot" = "first") AS "shaken";
