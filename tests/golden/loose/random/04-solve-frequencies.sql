-- Look for: values by how frequent they are, never value by value; for each number of blocks whether all conditions on
-- the rows that are left out hold as well: not more than one in four alike.

CREATE TEMPORARY TABLE "__sqlanon_frequencies_1" AS
SELECT
  CASE WHEN "value" = 0 THEN 1 ELSE "n" END AS "n",
  CAST(SUM(CASE WHEN "value" = 0 THEN "n" ELSE 1 END) AS BIGINT) AS "values"
FROM "__sqlanon_counts_1" AS "counts"
GROUP BY 1;

SELECT MAX("n"), CAST(SUM("values") AS BIGINT) FROM "__sqlanon_frequencies_1" AS "frequencies";

WITH "tried" AS (
  SELECT "blocks", (17 - "blocks" * 4) AS "left_out", (17 - "blocks" * 4) // 4 AS "alike"
  FROM (SELECT UNNEST(GENERATE_SERIES(1, 4, 1)) AS "blocks") AS "numbered"
), "fitting_0" AS (
  SELECT "tried"."blocks"
  FROM "tried"
  CROSS JOIN "__sqlanon_frequencies_1" AS "frequency"
  GROUP BY "tried"."blocks", "tried"."left_out", "tried"."alike"
  HAVING
    CAST(SUM(LEAST("frequency"."n", "tried"."blocks") * "frequency"."values") AS BIGINT) >= "tried"."blocks" * 4
    AND (
      "tried"."left_out" = 0
      OR (
        MAX("frequency"."n") <= "tried"."blocks" + "tried"."alike"
        AND CAST(SUM(LEAST("frequency"."n", "tried"."alike") * "frequency"."values") AS BIGINT) >= "tried"."left_out"
      )
    )
)
SELECT MAX("blocks")
FROM "tried"
WHERE "blocks" IN (SELECT "blocks" FROM "fitting_0" AS "fitting");
