-- Look for: each round divides what is left in two, by EXISTS and NOT EXISTS of the same condition: no cell is in
-- both, and none is lost; the mask is that of the round's node.

CREATE TEMPORARY TABLE "__sqlanon_cells_2" AS
SELECT
  "cell".*
FROM "__sqlanon_cells_1" AS "cell"
WHERE
  EXISTS(
    SELECT
      1
    FROM "__sqlanon_classes_1" AS "class"
    WHERE
      (
        "cell"."key_0" & 31
      ) = "class"."key_0"
  );

CREATE TEMPORARY TABLE "__sqlanon_cells_3" AS
SELECT
  "cell".*
FROM "__sqlanon_cells_1" AS "cell"
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM "__sqlanon_classes_1" AS "class"
    WHERE
      (
        "cell"."key_0" & 31
      ) = "class"."key_0"
  );

CREATE TEMPORARY TABLE "__sqlanon_cells_4" AS
SELECT
  "cell".*
FROM "__sqlanon_cells_3" AS "cell"
WHERE
  EXISTS(
    SELECT
      1
    FROM "__sqlanon_classes_2" AS "class"
    WHERE
      (
        "cell"."key_0" & 17
      ) = "class"."key_0"
  );

CREATE TEMPORARY TABLE "__sqlanon_cells_5" AS
SELECT
  "cell".*
FROM "__sqlanon_cells_3" AS "cell"
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM "__sqlanon_classes_2" AS "class"
    WHERE
      (
        "cell"."key_0" & 17
      ) = "class"."key_0"
  );
