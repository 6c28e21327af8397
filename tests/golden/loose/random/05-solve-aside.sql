-- Look for: which rows are left out: those of values too frequent for the blocks first, then by their draws, never by
-- their place in the source; at most one in four alike.

CREATE TEMPORARY TABLE "__sqlanon_aside_1" AS SELECT * FROM "__sqlanon_keyed_1" AS "rows" WHERE FALSE;
INSERT INTO "__sqlanon_aside_1" DEFAULT VALUES;
DELETE FROM "__sqlanon_aside_1";

INSERT INTO "__sqlanon_aside_1"
SELECT "ranked"."row", "ranked"."draw", "ranked"."position", "ranked"."key_0"
FROM (
  SELECT
    *,
    ROW_NUMBER() OVER (
      PARTITION BY "key_0"
      ORDER BY -"taken" ASC NULLS LAST, "draw" ASC NULLS LAST, "row" ASC NULLS LAST
    ) - 1 AS "rank_key_0"
  FROM (
    SELECT "row", "draw", "position", "key_0", 0 AS "taken"
    FROM "__sqlanon_candidates_1" AS "pool"
    UNION ALL
    SELECT "row", "draw", "position", "key_0", 1 AS "taken"
    FROM "__sqlanon_aside_1" AS "chosen"
  ) AS "row"
) AS "ranked"
LEFT JOIN "__sqlanon_counts_1" AS "key_0" ON "ranked"."key_0" = "key_0"."value" AND "key_0"."n" > 3
WHERE "ranked"."rank_key_0" < 1 AND "ranked"."taken" = 0
ORDER BY
  CASE WHEN COALESCE("ranked"."rank_key_0" < "key_0"."n" - 3, FALSE) THEN 0 ELSE 1 END ASC NULLS LAST,
  "ranked"."draw" ASC NULLS LAST
LIMIT 5;

INSERT INTO "__sqlanon_aside_1" SELECT "row", "draw", "position", "key_0" FROM "__sqlanon_free_1";
SELECT MAX("n") FROM (SELECT COUNT(*) AS "n" FROM "__sqlanon_aside_1" AS "rows" GROUP BY "key_0") AS "counted";
