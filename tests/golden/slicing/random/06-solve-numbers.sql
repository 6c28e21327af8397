-- Look for: numbers of the regions, drawn, as with Mondrian's.

CREATE TEMPORARY TABLE "__sqlanon_numbers_1" AS
SELECT
  "region",
  ROW_NUMBER() OVER (ORDER BY "draw" ASC NULLS LAST) AS "bucket",
  "rows"
FROM (
  SELECT
    *,
    udf(0) AS "draw"
  FROM (
    SELECT
      "region",
      CAST(SUM("n") AS BIGINT) AS "rows"
    FROM "__sqlanon_points_1"
    GROUP BY
      "region"
  ) AS "counted"
) AS "drawn";
