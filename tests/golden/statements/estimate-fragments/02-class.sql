-- Look for: rows are those of one fragment, of each of which its part of the condition is known; all of them are
-- bucket 0.

CREATE TEMPORARY TABLE "__sqlanon_class_1" AS
SELECT ROW_NUMBER() OVER () AS "id", *
FROM (
  SELECT "bucket", "part_0", CAST(SUM("weight") AS BIGINT) AS "n"
  FROM (
    SELECT 0 AS "bucket", CAST(("row"."bucketed_1" = 'F') AS BOOLEAN) AS "part_0", "row"."weight" AS "weight"
    FROM ({row-2(0)}) AS "row"
  ) AS "labelled"
  GROUP BY "bucket", "part_0"
) AS "counted";
