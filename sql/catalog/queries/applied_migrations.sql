-- The migrations that the catalog says were applied, in their order.
SELECT version, slug, sha256 FROM anon.schema_version ORDER BY version ASC NULLS LAST
