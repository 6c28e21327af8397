-- Look for: the lists stand there twice, as they are and as VARIANT: the hash of an empty list is that of NULL, and of a VARIANT it is not.

WITH "snapshot" AS (SELECT * FROM "memory"."main"."hospital_release")
SELECT CONCAT_WS(':', COUNT(*), BIT_XOR("digest"), SUM(CAST("digest" AS INT128))) AS "fingerprint"
FROM (SELECT hash(*COLUMNS(*), CAST("codes" AS VARIANT)) AS "digest" FROM "snapshot");
