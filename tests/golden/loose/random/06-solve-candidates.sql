-- Look for: who may still be set aside: no row of a value of which as many are aside already as may be.

CREATE TEMPORARY TABLE "__sqlanon_candidates_1" AS
SELECT "row", "draw", "position", "key_0"
FROM "__sqlanon_keyed_1" AS "keyed";

DELETE FROM "__sqlanon_candidates_1" WHERE "row" IN (SELECT "row" FROM "__sqlanon_aside_1");

DELETE FROM "__sqlanon_candidates_1"
WHERE "key_0" IN (SELECT "key_0" FROM "__sqlanon_aside_1" AS "chosen" GROUP BY "key_0" HAVING COUNT(*) >= 1);
