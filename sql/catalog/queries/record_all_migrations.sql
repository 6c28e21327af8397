-- Says that migrations were applied. parameters: their versions, slugs and SHA-256, as lists of equal length
INSERT INTO anon.schema_version (version, slug, sha256) SELECT unnest(?), unnest(?), unnest(?)
