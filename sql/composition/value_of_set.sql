-- The rows of sets in the form of classes of one release: release, class, code, shown, n.
SELECT 0 AS release, set_no AS class, code, shown, n FROM set_value
