-- Look for: the empty table of queries that the release cannot answer.

CREATE TEMPORARY TABLE "__sqlanon_refused_1" AS SELECT CAST(NULL AS BIGINT) AS "query_id" WHERE FALSE;
INSERT INTO "__sqlanon_refused_1" DEFAULT VALUES;
DELETE FROM "__sqlanon_refused_1";
