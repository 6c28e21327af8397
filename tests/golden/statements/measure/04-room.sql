-- Look for: the empty table of how many rows a group that no estimate shows may still have.

CREATE TEMPORARY TABLE "__sqlanon_room_1" AS
SELECT
  CAST(NULL AS BIGINT) AS "query_id", CAST(NULL AS TEXT) AS "result", CAST(NULL AS BOOLEAN) AS "counts",
  CAST(NULL AS BIGINT) AS "room"
WHERE FALSE;

INSERT INTO "__sqlanon_room_1" DEFAULT VALUES;
DELETE FROM "__sqlanon_room_1";
