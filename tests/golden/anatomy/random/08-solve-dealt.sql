-- Look for: a row's bucket from its rowid alone, modulo the buckets of its region: no second sort. The great number is
-- the least rowid of a table made in this transaction.

CREATE TEMPORARY VIEW "__sqlanon_dealt_1" AS
SELECT
  "start"."base" + (
    (
      CASE
        WHEN (
          "standing"."rowid" - 36028797018960000 - "start"."before"
        ) < "start"."kept"
        THEN "start"."first" + (
          "standing"."rowid" - 36028797018960000 - "start"."before"
        )
        ELSE "start"."behind" + (
          "standing"."rowid" - 36028797018960000 - "start"."before"
        ) - "start"."kept"
      END
    ) % "start"."groups"
  ) AS "slot",
  "standing"."code_0",
  "standing"."column_0",
  "standing"."column_1",
  "standing"."column_2"
FROM "__sqlanon_drawn_1" AS "standing"
JOIN "__sqlanon_starts_1" AS "start"
  ON "standing"."region" = "start"."region" AND "standing"."code_0" = "start"."code";
