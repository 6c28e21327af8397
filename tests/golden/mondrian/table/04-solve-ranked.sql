-- Look for: the span of each axis, by which widths are divided, and whether positions are just the ranks: only other
-- positions are read; the last query is the loss: width over span, weighted by rows, one division at the end.

SELECT
  COUNT(*), COALESCE(MAX("position") - MIN("position"), 0),
  COALESCE(
    BOOL_AND(
      CAST("position" - (
        SELECT MIN("position")
        FROM "__sqlanon_ranked_1" AS "ranked"
      ) = CAST("rank_0" AS DOUBLE) AS BOOLEAN)
    ),
    TRUE
  )
FROM "__sqlanon_ranked_1" AS "ranked";

SELECT "rank_0", "position" FROM "__sqlanon_ranked_1";

SELECT
  CAST(SUM("region"."rows") AS INT128), (SELECT SUM("leaf") - 1 FROM "__sqlanon_ranked_1" AS "ranked"),
  (SELECT SUM("leaf") - 1 FROM "__sqlanon_ranked_2" AS "ranked"),
  (SELECT SUM("leaf") - 1 FROM "__sqlanon_ranked_3" AS "ranked"),
  CAST(COALESCE(
    SUM("region"."rows" * COALESCE(
      "known"."most_0" - "known"."least_0" + CASE WHEN "known"."with_null_0" THEN 1 ELSE 0 END, 0
    )),
    0
  ) AS INT128),
  CAST(COALESCE(
    SUM("region"."rows" * COALESCE(
      "known"."most_1" - "known"."least_1" + CASE WHEN "known"."with_null_1" THEN 1 ELSE 0 END, 0
    )),
    0
  ) AS INT128),
  CAST(COALESCE(
    SUM("region"."rows" * COALESCE(
      "known"."most_2" - "known"."least_2" + CASE WHEN "known"."with_null_2" THEN 1 ELSE 0 END, 0
    )),
    0
  ) AS INT128)
FROM "__sqlanon_regions_done_1" AS "region"
JOIN ({known("__sqlanon_points_done_1")}) AS "known" ON "region"."region" = "known"."region";
