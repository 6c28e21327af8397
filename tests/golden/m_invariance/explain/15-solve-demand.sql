-- Look for: newcomers and holes of each value, of which some have neither.

CREATE TEMPORARY TABLE "__sqlanon_demand_1" AS
SELECT *, udf(0) AS "draw"
FROM (
  SELECT "v"."code", COALESCE("n"."newcomers", 0) AS "newcomers", COALESCE("h"."holes", 0) AS "holes"
  FROM "__sqlanon_value_code_1" AS "v"
  LEFT JOIN (
    SELECT "code", COUNT(*) AS "newcomers"
    FROM "__sqlanon_source_row_1" AS "source_row"
    WHERE "signature" IS NULL
    GROUP BY "code"
  ) AS "n" ON "n"."code" = "v"."code"
  LEFT JOIN (SELECT "code", COUNT(*) AS "holes" FROM "__sqlanon_hole_1" AS "hole" GROUP BY "code") AS "h"
    ON "h"."code" = "v"."code"
) AS "each";
