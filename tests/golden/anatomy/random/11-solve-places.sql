-- Look for: every row with its bucket and its code; the sensitive value itself is not here.

CREATE TEMPORARY TABLE "__sqlanon_places_1" AS
SELECT
  "number"."bucket",
  "dealt"."code_0",
  "dealt"."column_0",
  "dealt"."column_1",
  "dealt"."column_2"
FROM "__sqlanon_dealt_1" AS "dealt"
JOIN "__sqlanon_numbers_1" AS "number"
  ON "dealt"."slot" = "number"."slot";
