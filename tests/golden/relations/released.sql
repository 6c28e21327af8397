SELECT "number"."bucket" AS "bucket", "value_0"."value" AS {#1}
FROM "__sqlanon_points_1" AS "point"
JOIN "__sqlanon_numbers_1" AS "number" ON "point"."region" = "number"."region"
JOIN {#2} AS "value_0" ON "value_0"."rank_0" = "point".{#3}
