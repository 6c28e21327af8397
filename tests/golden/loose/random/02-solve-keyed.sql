-- Look for: a key for the rows that must not meet: those alike have one positive number, all others a negative one of
-- their own; position 0, for rows need not be near. Rows set aside go out, and come back at the end.

CREATE TEMPORARY TABLE "__sqlanon_keyed_1" AS
SELECT "rows"."row", udf(0) AS "draw", 0 AS "position", COALESCE("key_0"."number", -1 - "rows"."row") AS "key_0"
FROM ({row}) AS "rows"
LEFT JOIN "__sqlanon_repeated_1" AS "key_0" ON hash("rows"."value_3") = "key_0"."digest";

DELETE FROM "__sqlanon_keyed_1" WHERE "row" IN (SELECT "row" FROM "__sqlanon_aside_1");
INSERT INTO "__sqlanon_keyed_1" SELECT "row", "draw", "position", "key_0" FROM "__sqlanon_aside_1";
