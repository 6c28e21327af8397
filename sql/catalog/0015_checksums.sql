-- What tells the rows of a release in a series' ledger from others as quickly as can be: by DuckDB's own hash, which may be another in its
-- next version. The digest, which is the same in all of them, is compared where this is not the one that there should be.

ALTER TABLE anon.series_release ADD COLUMN checksum VARCHAR;
