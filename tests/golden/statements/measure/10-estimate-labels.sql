-- Look for: each column's labels in the form that single estimates read.

CREATE TEMPORARY TABLE "__sqlanon_labels_1" AS
SELECT "label", "text" AS "shown", 1 AS "n"
FROM "__sqlanon_label_1" AS "labels";
