SELECT
  "row"."bucket" AS "bucket",
  TRY(
    CASE WHEN "row"."sex" IS NULL OR NOT "row"."sex" IS NULL THEN CAST(("row"."sex" = 'F') AS BOOLEAN) END
  ) AS "part_0"
FROM (SELECT * FROM "memory"."main"."hospital_release_qi") AS "row"
