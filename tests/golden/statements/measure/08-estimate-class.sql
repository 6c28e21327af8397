-- Look for: rows by the numbers of their labels: the masks are joined to these.

CREATE TEMPORARY TABLE "__sqlanon_class_1" AS
SELECT
  "shown"."n",
  "held_0"."number" AS "number_0",
  "held_1"."number" AS "number_1",
  "held_2"."number" AS "number_2",
  "held_3"."number" AS "number_3"
FROM "__sqlanon_shown_1" AS "shown"
JOIN "__sqlanon_label_1" AS "held_0"
  ON "shown"."label_0" IS NOT DISTINCT FROM "held_0"."label"
JOIN "__sqlanon_label_2" AS "held_1"
  ON "shown"."label_1" IS NOT DISTINCT FROM "held_1"."label"
JOIN "__sqlanon_label_3" AS "held_2"
  ON "shown"."label_2" IS NOT DISTINCT FROM "held_2"."label"
JOIN "__sqlanon_label_4" AS "held_3"
  ON "shown"."label_3" IS NOT DISTINCT FROM "held_3"."label";
