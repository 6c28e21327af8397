-- Look for: the ways in which rows, and values, can satisfy, numbered; the other queries say whether counts are whole
-- and no bucket is NULL: else buckets are not put together.

CREATE TEMPORARY TABLE "__sqlanon_kind_1" AS
SELECT
  ROW_NUMBER() OVER () - 1 AS "kind",
  *
FROM (
  SELECT DISTINCT
    "part_0"
  FROM "__sqlanon_shown_1"
) AS "different";

CREATE TEMPORARY TABLE "__sqlanon_kind_2" AS
SELECT
  ROW_NUMBER() OVER () - 1 AS "kind",
  *
FROM (
  SELECT DISTINCT
    "listed",
    "part_0"
  FROM "__sqlanon_held_1"
) AS "different";

SELECT
  (
    SELECT
      COUNT(*)
    FROM "__sqlanon_kind_1"
  ),
  BOOL_AND(
    CAST(COALESCE((
      1 >= 0 AND 1 = trunc(1)
    ) AND NOT "held"."bucket" IS NULL, FALSE) AS BOOLEAN)
  ),
  CAST(SUM(1) AS BIGINT)
FROM "__sqlanon_shown_1" AS "held";

SELECT
  (
    SELECT
      COUNT(*)
    FROM "__sqlanon_kind_2"
  ),
  BOOL_AND(
    CAST(COALESCE(
      (
        "held"."weight" >= 0 AND "held"."weight" = trunc("held"."weight")
      )
      AND NOT "held"."label" IS NULL,
      FALSE
    ) AS BOOLEAN)
  ),
  CAST(SUM("held"."weight") AS BIGINT)
FROM "__sqlanon_held_1" AS "held";
