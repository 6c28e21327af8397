-- The migrations recorded in the catalog as applied, each with the number of the transaction that reads them.
SELECT version, slug, sha256, system.main.txid_current() FROM anon.schema_version
