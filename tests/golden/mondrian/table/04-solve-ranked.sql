-- Look for: the span of each axis, by which widths are divided, and whether positions are just the ranks: then no
-- width has to look them up.

SELECT
  COUNT(*),
  COALESCE(MAX("position") - MIN("position"), 0),
  COALESCE(
    BOOL_AND(
      CAST("position" - (
        SELECT
          MIN("position")
        FROM "__sqlanon_ranked_1"
      ) = CAST("rank_0" AS DOUBLE) AS BOOLEAN)
    ),
    TRUE
  )
FROM "__sqlanon_ranked_1";
