-- Look for: values are counted region by region, from the rows already sorted; a draw for each value of each region.

CREATE TEMPORARY TABLE "__sqlanon_value_counts_1" AS
SELECT "region", "code", "n", udf(0) AS "draw"
FROM (
  SELECT "region", "code_0" AS "code", COUNT(*) AS "n"
  FROM "__sqlanon_sorted_rows_1" AS "rows"
  GROUP BY "region", "code_0"
) AS "counted";
