-- Look for: the classes as somebody sees them who reads the release: numbers of the labels shown, by the round in
-- which a cell is published.

CREATE TEMPORARY TABLE "__sqlanon_round_cells_1" AS
SELECT "cell"."key_0", "cell"."n", ("labels_0"."code_0" << 0) + ("labels_1"."code_0" << 2) AS "class_0", 1 AS "round"
FROM "__sqlanon_cells_2" AS "cell"
JOIN "__sqlanon_labels_1" AS "labels_0" ON ("cell"."key_0" & 1) = "labels_0"."key_0"
JOIN "__sqlanon_labels_2" AS "labels_1" ON ("cell"."key_0" & 30) = "labels_1"."key_0"
UNION ALL
SELECT "cell"."key_0", "cell"."n", ("labels_0"."code_0" << 0) + ("labels_1"."code_1" << 2) AS "class_0", 2 AS "round"
FROM "__sqlanon_cells_4" AS "cell"
JOIN "__sqlanon_labels_1" AS "labels_0" ON ("cell"."key_0" & 1) = "labels_0"."key_0"
JOIN "__sqlanon_labels_2" AS "labels_1" ON ("cell"."key_0" & 30) = "labels_1"."key_0";
