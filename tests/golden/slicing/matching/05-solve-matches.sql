-- Look for: people find their regions through the parts of one column, then of the next, never all by all; a weight is the region's
-- rows times the shares of the parts; last the greatest p(t,s), which is recorded.

CREATE TEMPORARY TABLE "__sqlanon_matches_1" AS
SELECT
  "known"."tuple",
  "size"."region",
  "size"."rows",
  "of_0"."part_0",
  "of_0"."n" AS "n_0",
  "of_1"."part_1",
  "of_1"."n" AS "n_1",
  "size"."rows" * (
    "of_0"."n" / "size"."rows"
  ) * (
    "of_1"."n" / "size"."rows"
  ) AS "weight"
FROM "__sqlanon_tuples_1" AS "known"
JOIN (
  SELECT
    "region",
    "part_0",
    CAST(CAST(SUM("n") AS BIGINT) AS DOUBLE) AS "n"
  FROM "__sqlanon_state_1"
  GROUP BY
    "region",
    "part_0"
) AS "of_0"
  ON "known"."part_0" = "of_0"."part_0"
JOIN (
  SELECT
    "region",
    "part_1",
    CAST(CAST(SUM("n") AS BIGINT) AS DOUBLE) AS "n"
  FROM "__sqlanon_state_1"
  GROUP BY
    "region",
    "part_1"
) AS "of_1"
  ON "of_0"."region" = "of_1"."region" AND "known"."part_1" = "of_1"."part_1"
JOIN (
  SELECT
    "region",
    CAST(CAST(SUM("n") AS BIGINT) AS DOUBLE) AS "rows"
  FROM "__sqlanon_state_1"
  GROUP BY
    "region"
) AS "size"
  ON "of_0"."region" = "size"."region";

SELECT
  MAX("most")
FROM (
  SELECT
    MAX("share") / SUM("share") AS "most"
  FROM (
    SELECT
      "match"."tuple",
      "candidate"."value",
      SUM("match"."weight" * (
        "candidate"."n" / "match"."n_1"
      )) AS "share"
    FROM "__sqlanon_matches_3" AS "match"
    JOIN (
      SELECT
        "region",
        "part_1",
        "subject_0" AS "value",
        CAST(CAST(SUM("n") AS BIGINT) AS DOUBLE) AS "n"
      FROM "__sqlanon_state_3"
      GROUP BY
        "region",
        "part_1",
        "subject_0"
    ) AS "candidate"
      ON "match"."region" = "candidate"."region"
      AND "match"."part_1" = "candidate"."part_1"
    GROUP BY
      "match"."tuple",
      "candidate"."value"
  ) AS "candidate"
  GROUP BY
    "tuple"
) AS "by_tuple";
