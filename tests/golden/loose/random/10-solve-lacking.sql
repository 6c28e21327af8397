-- Look for: rows that found no block; and values of which more than one in four of the five rows left out are alike:
-- there must be none.

CREATE TEMPORARY TABLE "__sqlanon_free_1" AS
SELECT "row", "draw", "position", "key_0"
FROM "__sqlanon_filled_blocks_1"
WHERE "block" IS NULL;

INSERT INTO "__sqlanon_free_1" DEFAULT VALUES;
DELETE FROM "__sqlanon_free_1";

CREATE TEMPORARY TABLE "__sqlanon_lacking_1" AS
SELECT *
FROM (
  SELECT 0 AS "key", "key_0" AS "value", COUNT(*) * 4 - 5 AS "lack"
  FROM "__sqlanon_aside_1" AS "rows"
  GROUP BY "key_0"
  HAVING COUNT(*) * 4 - 5 > 0
) AS "by_key";

SELECT COUNT(*), MAX("lack") FROM "__sqlanon_lacking_1";
