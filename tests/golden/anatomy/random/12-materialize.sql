-- Look for: two tables with nothing in common but the bucket; the first sorted by bucket and a draw, the second by
-- bucket and code; words are texts again, and neither table has a rowid or a draw.

CREATE TABLE "memory"."main"."__sqlanon_candidate_1" AS
SELECT "coded"."dob", CAST("coded"."sex" AS TEXT) AS "sex", CAST("coded"."zip" AS TEXT) AS "zip", "coded"."bucket"
FROM (
  SELECT *
  FROM (
    SELECT "source"."dob" AS "dob", "source"."sex" AS "sex", "source"."zip" AS "zip", "source"."bucket" AS "bucket"
    FROM (
      SELECT "column_0" AS "dob", "column_1" AS "sex", "column_2" AS "zip", "bucket" AS "bucket"
      FROM "__sqlanon_rows_in_buckets_1"
    ) AS "source"
  ) AS "released"
  ORDER BY "bucket" ASC NULLS LAST, udf(0) ASC NULLS LAST
) AS "coded";

CREATE TABLE "memory"."main"."__sqlanon_candidate_2" AS
SELECT "counted"."bucket" AS "bucket", "coded"."value" AS "value", "counted"."n" AS "count"
FROM (SELECT "bucket", "code_0" AS "code", CAST(1 AS BIGINT) AS "n" FROM "__sqlanon_rows_in_buckets_1") AS "counted"
JOIN "__sqlanon_codes_1" AS "coded" ON "counted"."code" = "coded"."code"
ORDER BY "counted"."bucket" ASC NULLS LAST, "counted"."code" ASC NULLS LAST;
