-- Look for: the number of each label comes from the hierarchy, never from the source, and NULL is the last. Counts
-- are of the rows' numbers: a value that is not listed has that of NULL.

CREATE TEMPORARY TABLE "__sqlanon_domain_1" AS
SELECT CAST(ROW_NUMBER() OVER (ORDER BY "label" ASC NULLS LAST) - 1 AS INT) AS "code", "label"
FROM (
  SELECT "label"
  FROM (SELECT "label" FROM ({listed}) AS "listed" UNION ALL SELECT CAST(NULL AS TEXT) AS "label") AS "label"
  GROUP BY "label"
) AS "label";

SELECT "bin", COUNT(*) AS "n"
FROM (
  SELECT (CAST(0 AS BIGINT)) * 3 + "c0" AS "bin"
  FROM (
    WITH "code_0" AS ({code_0})
    SELECT COALESCE("code_0"."code", 2) AS "c0"
    FROM "memory"."main"."patients" AS "source"
    LEFT JOIN "code_0" ON "source"."sex" IS NOT DISTINCT FROM "code_0"."value"
  ) AS "counted"
) AS "numbered"
GROUP BY "bin";
