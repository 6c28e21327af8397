-- Look for: a row's bucket from its rowid alone, modulo the buckets of its region: no second sort. The great number is
-- the least rowid of a table made in this transaction.

CREATE TEMPORARY VIEW "__sqlanon_rows_in_slots_1" AS
SELECT
  "start"."base" + (
    CASE
      WHEN ("row"."rowid" - 36028797018960000 - "start"."before") < "start"."spread"
      THEN "start"."first" + ("row"."rowid" - 36028797018960000 - "start"."before")
      ELSE "start"."behind" + ("row"."rowid" - 36028797018960000 - "start"."before") - "start"."spread"
    END
  ) % "start"."groups" AS "slot",
  "row"."code_0", "row"."column_0", "row"."column_1", "row"."column_2"
FROM "__sqlanon_sorted_rows_1" AS "row"
JOIN "__sqlanon_starts_1" AS "start" ON "row"."region" = "start"."region" AND "row"."code_0" = "start"."code";
