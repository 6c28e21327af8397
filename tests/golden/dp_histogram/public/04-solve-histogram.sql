-- Look for: each combination is there, whether a row has it or not.

CREATE TEMPORARY TABLE "__sqlanon_histogram_1" AS
SELECT "d0"."label" AS "c0", "noisy"."n"
FROM "__sqlanon_noisy_1" AS "noisy"
JOIN "__sqlanon_domain_1" AS "d0" ON "d0"."code" = ("noisy"."bin" // 1 % 3);
