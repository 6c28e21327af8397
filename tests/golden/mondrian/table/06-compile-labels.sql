-- Look for: what a region shows: its least and greatest occurring value, one of them where they are equal, ' or NULL'
-- behind; regions that show the same are one class (MIN of their numbers).

CREATE TEMPORARY TABLE "__sqlanon_labels_1" AS
SELECT *, MIN("region") OVER (PARTITION BY "label_0", "label_1", "label_2") AS "class"
FROM ({labelled("__sqlanon_regions_done_1")}) AS "labelled";
