-- Look for: how many rows of each value a slot holds, counted once: buckets are added up from it.

CREATE TEMPORARY TABLE "__sqlanon_tally_1" AS
SELECT "slot", "code_0" AS "code", COUNT(*) AS "n"
FROM "__sqlanon_rows_in_slots_1" AS "rows"
GROUP BY "slot", "code_0";
