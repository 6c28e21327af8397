-- Look for: a number is drawn within its interval, in the type of the column.

CREATE TEMPORARY TABLE "__sqlanon_synthetic_1" AS
SELECT
  "d0"."label" AS "c0",
  CAST("d1"."least" + CAST("drawn"."o1" AS DECIMAL(19, 0)) * CAST(1 AS DECIMAL(38, 0)) AS BIGINT) AS "c1"
FROM "__sqlanon_drawn_1" AS "drawn"
JOIN "__sqlanon_domain_2" AS "d1" ON "d1"."code" = ("drawn"."w0" // 1 % 3)
JOIN "__sqlanon_domain_1" AS "d0" ON "d0"."code" = ("drawn"."w0" // 3 % 3);
