-- The rows of sets as those of classes of one release.
SELECT 0 AS release, set_no AS class, code, shown, n FROM set_value
