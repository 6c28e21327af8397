-- Look for: the class attribute, whose codes are in the cells, too, in a column that nothing else reads.

CREATE TEMPORARY TABLE "__sqlanon_decoded_1" AS
SELECT
  "code_0"."value" AS "dob", "code_1"."value" AS "sex", "code_2"."value" AS "zip", "code_3"."value" AS "disease",
  "cell"."n" AS "__sqlanon_rows"
FROM "__sqlanon_cells_1" AS "cell"
JOIN (SELECT * FROM "__sqlanon_code_1") AS "code_0" ON ("cell"."key_0" & 31) = "code_0"."key_0"
JOIN (SELECT * FROM "__sqlanon_code_2") AS "code_1" ON ("cell"."key_0" & 32) = "code_1"."key_0"
JOIN (SELECT * FROM "__sqlanon_code_3") AS "code_2" ON ("cell"."key_0" & 960) = "code_2"."key_0"
JOIN (SELECT "value", ("rank_0" << 10) AS "key_0" FROM "__sqlanon_values_1") AS "code_3"
  ON ("cell"."key_0" & 15360) = "code_3"."key_0";

CREATE TEMPORARY TABLE "__sqlanon_classes_1" AS
WITH "source" AS NOT MATERIALIZED (SELECT * FROM "__sqlanon_decoded_1"), "placement" AS (
  SELECT "value_0", "value_1", "value_2", "region"
  FROM "__sqlanon_row_regions_1"
), "recoded" AS NOT MATERIALIZED (
  SELECT
    "region"."class" AS "class_id", "region"."label_0" AS "label_0", "region"."label_1" AS "label_1",
    "region"."label_2" AS "label_2", "source"."disease" AS "column_3", "source"."__sqlanon_rows" AS "__sqlanon_rows"
  FROM "source"
  JOIN "placement"
    ON "source"."dob" IS NOT DISTINCT FROM "placement"."value_0"
    AND "source"."sex" IS NOT DISTINCT FROM "placement"."value_1"
    AND "source"."zip" IS NOT DISTINCT FROM "placement"."value_2"
  JOIN "__sqlanon_labels_1" AS "region" ON "region"."region" = "placement"."region"
), "equivalence_class" AS ({equivalence_class-4}), "kept" AS ({kept-2(3)})
SELECT "class_id" AS "key_0"
FROM "kept";
