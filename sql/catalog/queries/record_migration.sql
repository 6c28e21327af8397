-- Records that a migration was applied. parameters: its version, slug and SHA-256
INSERT INTO anon.schema_version (version, slug, sha256) VALUES (?, ?, ?)
