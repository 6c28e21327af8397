-- Look for: each round divides what is left in two, by EXISTS and NOT EXISTS of the same condition: no cell is in
-- both, and none is lost; the mask is that of the round's node.

CREATE TEMPORARY TABLE "__sqlanon_cells_2" AS
SELECT "cell".*
FROM "__sqlanon_cells_1" AS "cell"
WHERE EXISTS({classes("__sqlanon_classes_1", 31)});

CREATE TEMPORARY TABLE "__sqlanon_cells_3" AS
SELECT "cell".*
FROM "__sqlanon_cells_1" AS "cell"
WHERE NOT EXISTS({classes("__sqlanon_classes_1", 31)});

CREATE TEMPORARY TABLE "__sqlanon_cells_4" AS
SELECT "cell".*
FROM "__sqlanon_cells_3" AS "cell"
WHERE EXISTS({classes("__sqlanon_classes_2", 17)});

CREATE TEMPORARY TABLE "__sqlanon_cells_5" AS
SELECT "cell".*
FROM "__sqlanon_cells_3" AS "cell"
WHERE NOT EXISTS({classes("__sqlanon_classes_2", 17)});
