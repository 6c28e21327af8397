-- Look for: the rows of the first table alone, each with its bucket and whether it satisfies what is asked of it; no
-- value of the second.

CREATE TEMPORARY TABLE "__sqlanon_labelled_1" AS
SELECT
  "row"."bucket" AS "bucket",
  TRY(
    CASE WHEN "row"."sex" IS NULL OR NOT "row"."sex" IS NULL THEN CAST(("row"."sex" = 'F') AS BOOLEAN) END
  ) AS "part_0"
FROM (SELECT * FROM "memory"."main"."hospital_release_qi") AS "row";
