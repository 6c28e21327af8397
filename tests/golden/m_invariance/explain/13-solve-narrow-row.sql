-- Look for: the numbers alone, with random bits: wide rows are not sorted.

CREATE TEMPORARY TABLE "__sqlanon_narrow_row_1" AS
SELECT
  *,
  udf(0) AS "draw"
FROM (
  SELECT
    "row_no",
    "code",
    "signature"
  FROM "__sqlanon_source_row_1"
) AS "each";
