-- Look for: both lists are in the fingerprint.

WITH "snapshot" AS (SELECT * FROM "memory"."main"."hospital_release")
SELECT CONCAT_WS(':', COUNT(*), BIT_XOR("digest"), SUM(CAST("digest" AS INT128))) AS "fingerprint"
FROM (SELECT hash(*COLUMNS(*), CAST("codes" AS VARIANT), CAST("diagnoses" AS VARIANT)) AS "digest" FROM "snapshot");
