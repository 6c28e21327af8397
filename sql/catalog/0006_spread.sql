-- The spread of an estimate is not a standard error that anybody could rely on: it is that of the draws of the rows, where
-- all that the estimate assumes is true.

ALTER TABLE anon.query_error RENAME COLUMN stderr TO spread;
