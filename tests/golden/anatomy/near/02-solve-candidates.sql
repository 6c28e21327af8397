-- Look for: a cut for each dimension and not the best alone (GROUP BY dim, too): the best may violate what is asked of
-- buckets, and then the next is taken.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_candidates_1" AS
SELECT CAST(ROW_NUMBER() OVER () - 1 AS INT) AS "number", "label", "best"
FROM (
  SELECT
    "label",
    MIN(
      {'narrow': "narrow", 'dim': "dim", 'apart': ABS((
        "rows" - "lower"
      ) - "lower"), 'lower': "lower", 'median': "value"}
    ) AS "best"
  FROM ({cut}) AS "cut"
  WHERE "lower" >= 3 AND "rows" - "lower" >= 3
  GROUP BY "label", "dim"
) AS "best_of_region";
