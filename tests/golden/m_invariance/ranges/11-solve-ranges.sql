-- Look for: a label from the least to the greatest value of a bucket's people, NULL said beside it.

CREATE TEMPORARY TABLE "__sqlanon_ranges_1" AS
SELECT *, MIN("region") OVER (PARTITION BY "label_0", "label_1", "label_2") AS "class"
FROM ({labelled("__sqlanon_regions_1")}) AS "labelled";
