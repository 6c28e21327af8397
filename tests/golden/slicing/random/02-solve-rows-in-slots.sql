-- Look for: rows are numbered by a draw, and dealt out to slots of 8 or 9; each carries its ranks and codes.

CREATE TEMPORARY TABLE "__sqlanon_rows_in_slots_1" AS
SELECT
  CAST("number" % "slots" AS BIGINT) AS "slot", CAST((("key_0" & 31)) AS INT) AS "r_0",
  CAST((("key_0" & 32) >> 5) AS INT) AS "r_1", CAST((("key_0" & 960) >> 6) AS INT) AS "r_2",
  (("key_0" & 15360) >> 10) AS "subject_0", (("key_0" & 15360) >> 10) AS "other_0", CAST(1 AS BIGINT) AS "n"
FROM ({numbered-3}) AS "numbered";
