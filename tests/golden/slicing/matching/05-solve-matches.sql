-- Look for: people find their regions through the parts of one column, then of the next, never all by all; a weight is the region's
-- rows times the shares of the parts; last the greatest p(t,s), which is recorded.

CREATE TEMPORARY TABLE "__sqlanon_matches_1" AS
SELECT
  "known"."tuple", "size"."region", "size"."rows", "of_0"."part_0", "of_1"."part_1", "of_0"."n" AS "n_0",
  "of_1"."n" AS "n_1", "size"."rows" * ("of_0"."n" / "size"."rows") * ("of_1"."n" / "size"."rows") AS "weight"
FROM "__sqlanon_tuples_1" AS "known"
JOIN ({of_0("part_0")}) AS "of_0" ON "known"."part_0" = "of_0"."part_0"
JOIN ({of_0("part_1")}) AS "of_1" ON "of_0"."region" = "of_1"."region" AND "known"."part_1" = "of_1"."part_1"
JOIN (
  SELECT "region", CAST(CAST(SUM("n") AS BIGINT) AS DOUBLE) AS "rows"
  FROM "__sqlanon_state_1" AS "state"
  GROUP BY "region"
) AS "size" ON "of_0"."region" = "size"."region";

SELECT MAX("most")
FROM (
  SELECT MAX("share") / SUM("share") AS "most"
  FROM ({candidate("__sqlanon_matches_3", "__sqlanon_state_3")}) AS "candidate"
  GROUP BY "tuple"
) AS "by_tuple";
