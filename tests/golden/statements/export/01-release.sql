-- Look for: the digest of the rows to be written, and then the same SELECT in COPY: columns by name; the path and the
-- certificate are parameters.

WITH "snapshot" AS (
  SELECT "dob" AS "dob", "sex" AS "sex", "zip" AS "zip", "disease" AS "disease"
  FROM "memory"."main"."hospital_release"
)
SELECT CONCAT_WS(':', COUNT(*), BIT_XOR("digest"), SUM(CAST("digest" AS INT128))) AS "fingerprint"
FROM (SELECT hash(*COLUMNS(*)) AS "digest" FROM "snapshot");

COPY (SELECT "dob" AS "dob", "sex" AS "sex", "zip" AS "zip", "disease" AS "disease" FROM "memory"."main"."hospital_release") TO ? WITH (FORMAT parquet, COMPRESSION zstd, KV_METADATA {'sqlanon_certificate': ?});
