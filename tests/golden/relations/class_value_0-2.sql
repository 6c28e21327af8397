SELECT 0 AS "class_id", "value" AS "value_0", CAST(SUM("n") AS BIGINT) AS "n" FROM "__sqlanon_codes_1" GROUP BY "value"
