-- Look for: the empty table of what the source says, with the same key: query, groups and result.

CREATE TEMPORARY TABLE "__sqlanon_actual_1" AS
SELECT
  CAST(NULL AS BIGINT) AS "query_id", CAST(NULL AS TEXT) AS "groups", CAST(NULL AS TEXT) AS "result",
  CAST(NULL AS DOUBLE) AS "value"
WHERE FALSE;

INSERT INTO "__sqlanon_actual_1" DEFAULT VALUES;
DELETE FROM "__sqlanon_actual_1";
