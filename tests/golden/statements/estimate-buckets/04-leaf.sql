-- Look for: values of a bucket in place of leaves of a label: those that satisfy, and those that do not, with their
-- weights times the copies.

CREATE TEMPORARY TABLE "__sqlanon_leaf_1" AS
SELECT "label", "listed", "part_0", CASE WHEN COUNT(*) = COUNT("weight") THEN SUM("weight") END AS "weight"
FROM (
  SELECT "bucket" AS "label", TRUE AS "listed", "part_0", "weight"
  FROM (
    SELECT
      "bucket",
      UNNEST(
        [
          {'part_0': TRUE, 'weight': CAST((
            (CAST("code" AS INT128) >> CAST(30 AS INT128)) & CAST(1023 AS INT128)
          ) * "copies" AS DOUBLE)},
          {'part_0': FALSE, 'weight': CAST((
            (CAST("code" AS INT128) >> CAST(40 AS INT128)) & CAST(1023 AS INT128)
          ) * "copies" AS DOUBLE)},
          {'part_0': CAST(NULL AS BOOLEAN), 'weight': CAST((
            (CAST("code" AS INT128) >> CAST(50 AS INT128)) & CAST(1023 AS INT128)
          ) * "copies" AS DOUBLE)}
        ], "recursive" := TRUE
      )
    FROM "__sqlanon_alike_1" AS "alike"
  ) AS "content"
  WHERE "weight" > 0
) AS "leaf"
GROUP BY "label", "listed", "part_0";
