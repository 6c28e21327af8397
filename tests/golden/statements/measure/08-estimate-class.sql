-- Look for: rows by the numbers of their labels, which are read into arrays.

CREATE TEMPORARY TABLE "__sqlanon_class_1" AS
SELECT
  "labelled"."n", "labels_0"."number" AS "number_0", "labels_1"."number" AS "number_1",
  "labels_2"."number" AS "number_2", "labels_3"."number" AS "number_3"
FROM "__sqlanon_labelled_1" AS "labelled"
LEFT JOIN "__sqlanon_label_1" AS "labels_0" ON "labelled"."label_0" IS NOT DISTINCT FROM "labels_0"."label"
LEFT JOIN "__sqlanon_label_2" AS "labels_1" ON "labelled"."label_1" IS NOT DISTINCT FROM "labels_1"."label"
LEFT JOIN "__sqlanon_label_3" AS "labels_2" ON "labelled"."label_2" IS NOT DISTINCT FROM "labels_2"."label"
LEFT JOIN "__sqlanon_label_4" AS "labels_3" ON "labelled"."label_3" IS NOT DISTINCT FROM "labels_3"."label";

SELECT CAST("n" AS BIGINT) AS "n", "number_0", "number_1", "number_2", "number_3"
FROM "__sqlanon_class_1" AS "class"
WHERE 1 = 1 OR hash("number_0", "number_1", "number_2", "number_3") % 1 = 0;
