SELECT
  "region"."class" AS "class_id", "region"."label_0" AS "label_0", "region"."label_1" AS "label_1",
  "region"."label_2" AS "label_2", "source".{#1} AS {#2}
FROM "source"
JOIN "placement"
  ON "source"."dob" IS NOT DISTINCT FROM "placement"."value_0"
  AND "source"."sex" IS NOT DISTINCT FROM "placement"."value_1"
  AND "source"."zip" IS NOT DISTINCT FROM "placement"."value_2"
JOIN "__sqlanon_labels_1" AS "region" ON "region"."region" = "placement"."region"
