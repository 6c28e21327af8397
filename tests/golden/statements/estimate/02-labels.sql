-- Look for: each label once, however many rows show it; the second query: no label may be without a leaf.

CREATE TEMPORARY TABLE "__sqlanon_labels_1" AS
SELECT "label_0" AS "label", "text_0" AS "shown", SUM("n") AS "n"
FROM "__sqlanon_class_1" AS "class"
GROUP BY "label_0", "text_0";

SELECT COUNT(*)
FROM "__sqlanon_labels_1" AS "shown"
ANTI JOIN "__sqlanon_leaf_1" AS "leaf" ON "shown"."label" IS NOT DISTINCT FROM "leaf"."label"
WHERE TRUE OR COALESCE("shown"."shown" <> '*', TRUE);
