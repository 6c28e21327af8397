-- Look for:

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
