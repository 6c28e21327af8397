-- Look for: a value that a class lacks adds its share: 1 less the shares of those that it has.

CREATE TEMPORARY TABLE "__sqlanon_sensitive_value_0_1" AS
SELECT "value", CAST(SUM("n") AS BIGINT) AS "n"
FROM "__sqlanon_class_sensitive_value_0_1" AS "class_sensitive_value_0"
GROUP BY "value";

WITH "baseline" AS (
  SELECT
    "value", CAST("n" AS DOUBLE) / SUM(CAST("n" AS DOUBLE)) OVER () AS "q", SUM(CAST("n" AS DOUBLE)) OVER () AS "total"
  FROM "__sqlanon_sensitive_value_0_1" AS "sensitive_value"
), "class_size" AS (
  SELECT "class_id", CAST(SUM("n") AS DOUBLE) AS "size"
  FROM "__sqlanon_class_sensitive_value_0_1" AS "class_sensitive_value"
  GROUP BY "class_id"
), "distance" AS (
  SELECT
    "s"."class_id", MAX("c"."size") AS "size", MAX("b"."total") AS "total",
    SUM(ABS("s"."n" / "c"."size" - "b"."q")) + (1 - SUM("b"."q")) AS "doubled"
  FROM "__sqlanon_class_sensitive_value_0_1" AS "s"
  JOIN "class_size" AS "c" ON "c"."class_id" = "s"."class_id"
  JOIN "baseline" AS "b" ON "b"."value" = "s"."value"
  GROUP BY "s"."class_id"
)
SELECT SUM("size" * "doubled" / 2) / NULLIF(MAX("total"), 0) AS "a_know"
FROM "distance";
