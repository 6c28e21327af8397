-- Look for: sums up to the row: first holes are left to counterfeits, then counterfeits join the rest.

CREATE TEMPORARY TABLE "__sqlanon_quota_1" AS
WITH "bound" AS (
  SELECT "code", "draw", "newcomers", GREATEST("newcomers" - "holes", 0) AS "lower"
  FROM "__sqlanon_demand_1" AS "demand"
), "rested" AS (
  SELECT
    "code", "draw", "newcomers", "lower", MAX("lower") OVER () AS "most",
    GREATEST(2 * MAX("lower") OVER () - SUM("lower") OVER (), 0) AS "lacking"
  FROM "bound"
), "room" AS (SELECT *, LEAST("newcomers", "most") - "lower" AS "room" FROM "rested"), "more" AS (
  SELECT
    *,
    LEAST(
      "room",
      GREATEST(
        "lacking" - SUM("room") OVER (
          ORDER BY "draw" ASC NULLS LAST, "code" ASC NULLS LAST
          ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) + "room",
        0
      )
    ) AS "more"
  FROM "room"
), "padded" AS (
  SELECT
    "code", "draw", "newcomers", "lower" + "more" AS "rest", "most" - "lower" - "more" AS "padding_room",
    "lacking" - SUM("more") OVER () AS "padding"
  FROM "more"
)
SELECT
  "code", "draw", CAST("newcomers" - "rest" AS BIGINT) AS "fillers", CAST("rest" AS BIGINT) AS "rest",
  CAST(LEAST(
    "padding_room",
    GREATEST(
      "padding" - SUM("padding_room") OVER (
        ORDER BY "draw" ASC NULLS LAST, "code" ASC NULLS LAST
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) + "padding_room",
      0
    )
  ) AS BIGINT) AS "counterfeits",
  CAST("padding" - SUM("padding_room") OVER () AS BIGINT) AS "impossible"
FROM "padded";

SELECT COALESCE(MAX("impossible"), 0) FROM "__sqlanon_quota_1";
