SELECT
  "region"."class" AS "class_id", "region"."label_0" AS "label_0", "region"."label_1" AS "label_1",
  "region"."label_2" AS "label_2", "source"."disease" AS "column_3"
FROM "source"
JOIN "placement" ON "source"."__sqlanon_row" = "placement"."row"
JOIN {#1} AS "region" ON "region"."region" = "placement"."region"
