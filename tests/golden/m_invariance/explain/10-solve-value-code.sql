-- Look for: the values of the source and of the series, each with one number.

CREATE TEMPORARY TABLE "__sqlanon_value_code_1" AS
SELECT "value", "n", ROW_NUMBER() OVER (ORDER BY "value" IS NULL ASC NULLS LAST, "value" ASC NULLS LAST) AS "code"
FROM (
  SELECT "value", CAST(SUM("n") AS BIGINT) AS "n"
  FROM (
    SELECT "disease" AS "value", COUNT(*) AS "n"
    FROM "temp"."main"."__sqlanon_source_2" AS "source"
    GROUP BY "disease"
    UNION ALL
    SELECT "value", 0 AS "n"
    FROM "__sqlanon_known_value_1" AS "known_values"
  ) AS "either"
  GROUP BY "value"
) AS "counted";
