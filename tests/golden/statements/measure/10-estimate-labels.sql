-- Look for: each label once, however many rows show it; the second query: no label may be without a leaf.

CREATE TEMPORARY TABLE "__sqlanon_labels_1" AS
SELECT
  "label",
  "text" AS "shown",
  1 AS "n"
FROM "__sqlanon_label_1" AS "labels";
