-- Look for: people of whom a value's share of all weights is above 1/2, with a margin for sums of doubles, and the regions that they
-- match; beside these the regions that violate the policy's own requirement.

CREATE TEMPORARY TABLE "__sqlanon_violating_1" AS
SELECT *
FROM (
  SELECT "tuple"
  FROM ({candidate("__sqlanon_matches_1", "__sqlanon_state_1")}) AS "candidate"
  GROUP BY "tuple"
  HAVING MAX("share") * 2 > SUM("share") * 1.000000001
) AS "broken";

CREATE TEMPORARY TABLE "__sqlanon_violating_2" AS
SELECT *
FROM (
  WITH "half_row" AS (
    SELECT
      "slot"."region" AS "class_id", "row"."r_0", "row"."r_1", "row"."r_2", "row"."subject_0", "row"."part_0",
      "row"."part_1", "row"."other_0", "row"."n"
    FROM "__sqlanon_rows_in_slots_1" AS "row"
    JOIN "__sqlanon_slots_1" AS "slot" ON "row"."slot" = "slot"."slot"
    WHERE "slot"."is_new"
  ), "equivalence_class" AS ({part_class_0("half_row", "class_row")})
  SELECT DISTINCT "class_id" AS "region"
  FROM ({violation(10)}) AS "violation"
  UNION ALL
  SELECT DISTINCT "region"
  FROM "__sqlanon_matches_1" AS "matches"
  WHERE "tuple" IN (SELECT "tuple" FROM "__sqlanon_violating_1" AS "violating")
) AS "broken";
