-- Look for: the empty table of what the release says: filled once for queries that are asked together, and by those
-- asked singly.

CREATE TEMPORARY TABLE "__sqlanon_estimated_1" AS
SELECT
  CAST(NULL AS BIGINT) AS "query_id", CAST(NULL AS TEXT) AS "groups", CAST(NULL AS TEXT) AS "result",
  CAST(NULL AS DOUBLE) AS "estimate", CAST(NULL AS DOUBLE) AS "spread", CAST(NULL AS DOUBLE) AS "low",
  CAST(NULL AS DOUBLE) AS "high", CAST(NULL AS BOOLEAN) AS "kept"
WHERE FALSE;

INSERT INTO "__sqlanon_estimated_1" DEFAULT VALUES;
DELETE FROM "__sqlanon_estimated_1";
