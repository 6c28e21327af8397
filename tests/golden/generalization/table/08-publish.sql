-- Look for: the candidate takes its name before anything is written; the snapshot's digest does not depend on the
-- order of rows; values are parameters only; the digest over the catalog's own rows comes last.

ALTER TABLE "memory"."main"."__sqlanon_candidate_1" RENAME TO "hospital_release";

WITH "snapshot" AS (SELECT * FROM "memory"."main"."hospital_release")
SELECT CONCAT_WS(':', COUNT(*), BIT_XOR("digest"), SUM(CAST("digest" AS INT128))) AS "fingerprint"
FROM (SELECT hash(*COLUMNS(*)) AS "digest" FROM "snapshot");

INSERT INTO "anon"."release" (
  "release_id", "kind", "policy", "policy_fingerprint", "policy_json", "method", "source_rows", "released_rows",
  "suppressed_rows", "loss", "nodes", "nodes_checked", "nodes_pruned", "proven_optimal", "loss_bound", "loss_name",
  "content_fingerprint", "engine_version", "sqlanon_version", "created_at", "schema_name", "object_name",
  "method_arguments", "sources"
)
SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
WHERE
  NOT EXISTS(
    SELECT 1
    FROM "anon"."release"
    WHERE
      translate("schema_name", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = ?
      AND translate("object_name", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') = ?
  );

INSERT INTO "anon"."release_attribute" (
  "release_id", "position", "attribute", "role", "hierarchy", "level", "height", "weight", "fragment", "source",
  "reading"
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

INSERT INTO "anon"."release_object" ("release_id", "kind", "schema_name", "object_name", "fragment", "digest")
VALUES (?, ?, ?, ?, ?, ?);

INSERT INTO "anon"."measurement" (
  "release_id", "release", "measured_at", "question", "attribute", "required", "achieved", "satisfied"
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- Writes the digest of the rows that describe a release. parameters: the digest, the release
UPDATE anon.release SET digest = ? WHERE release_id = ?;
