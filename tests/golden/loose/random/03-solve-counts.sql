-- Look for: how many blocks of four different rows can be filled at most: the rows that are left after the most
-- frequent values, divided by the places that these do not take.

CREATE TEMPORARY TABLE "__sqlanon_counts_1" AS
SELECT "chunk", "value", COUNT(*) AS "n"
FROM (
  SELECT *, 0 AS "chunk", CASE WHEN "key_0" > 0 THEN "key_0" ELSE 0 END AS "value"
  FROM "__sqlanon_keyed_1" AS "rows"
) AS "part"
GROUP BY "chunk", "value";

WITH "counts" AS (SELECT * FROM "__sqlanon_counts_1" AS "counts"), "block_count" AS ({block_count})
SELECT CAST(COALESCE(SUM("blocks"), 0) AS BIGINT)
FROM "block_count";
