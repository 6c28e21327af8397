-- Look for: children of the cuts that stand, with nothing tried; and the regions of those that failed, with one more
-- bit in `tried`; numbered anew.

CREATE OR REPLACE TEMPORARY TABLE "__sqlanon_next_1" AS
SELECT
  CAST(ROW_NUMBER() OVER () - 1 AS BIGINT) AS "region",
  "labels",
  "rows",
  "tried",
  "low_0",
  "high_0",
  "low_1",
  "high_1",
  "low_2",
  "high_2"
FROM (
  SELECT
    "region",
    "side",
    "labels",
    "rows",
    CAST(0 AS BIGINT) AS "tried",
    "low_0",
    "high_0",
    "low_1",
    "high_1",
    "low_2",
    "high_2"
  FROM "__sqlanon_children_1"
  WHERE
    NOT "region" IN (
      SELECT
        "region"
      FROM "__sqlanon_failing_1"
    )
  UNION ALL
  SELECT
    "region"."region",
    CAST(0 AS BIGINT) AS "side",
    [
      CAST((
        (
          "region"."region" * 3
        ) + 0
      ) AS INT),
      CAST((
        (
          "region"."region" * 3
        ) + 1
      ) AS INT),
      CAST((
        (
          "region"."region" * 3
        ) + 2
      ) AS INT)
    ] AS "labels",
    "region"."rows",
    "region"."tried" | (
      CAST(1 AS BIGINT) << "attempt"."dim"
    ) AS "tried",
    "region"."low_0",
    "region"."high_0",
    "region"."low_1",
    "region"."high_1",
    "region"."low_2",
    "region"."high_2"
  FROM "__sqlanon_regions_1" AS "region"
  JOIN "__sqlanon_failing_1" AS "failed"
    ON "region"."region" = "failed"."region"
  JOIN (
    SELECT DISTINCT
      "region",
      "dim"
    FROM "__sqlanon_attempts_1"
  ) AS "attempt"
    ON "region"."region" = "attempt"."region"
) AS "both";

ALTER TABLE "__sqlanon_next_1" RENAME TO "__sqlanon_regions_1";
