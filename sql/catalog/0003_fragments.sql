-- Releases of several tables: which of them a column and an object belong to, and which column of the
-- source is behind a column of another name.
--
-- NULL for a release of one table or view, and for the objects that stand beside one.

ALTER TABLE anon.release_attribute ADD COLUMN fragment VARCHAR;
ALTER TABLE anon.release_attribute ADD COLUMN source VARCHAR;
ALTER TABLE anon.release_object ADD COLUMN fragment VARCHAR;
