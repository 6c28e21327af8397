-- Look for:

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
        "cell"."key_0" & 56
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
        "cell"."key_0" & 56
      ) = "class"."key_0"
  );
