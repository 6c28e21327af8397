-- Look for:

CREATE TEMPORARY TABLE "__sqlanon_numbers_1" AS
SELECT
  "block"
FROM (
  SELECT
    *,
    "rowid" - (
      SELECT
        MIN("rowid")
      FROM "__sqlanon_cells_2"
    ) AS "number"
  FROM "__sqlanon_cells_2"
) AS "cell"
WHERE
  "number" % 4 = 0
ORDER BY
  udf(0) ASC NULLS LAST;

CREATE TEMPORARY TABLE "__sqlanon_numbers_2" AS
SELECT
  "block",
  "number" AS "number_0"
FROM (
  SELECT
    *,
    "rowid" - (
      SELECT
        MIN("rowid")
      FROM "__sqlanon_numbers_1"
    ) AS "number"
  FROM "__sqlanon_numbers_1"
) AS "numbered"
ORDER BY
  udf(0) ASC NULLS LAST;
