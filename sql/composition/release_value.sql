-- The rows of a release, $release, by their class: release, class, {columns}. counted: class_id, {columns}.
SELECT $release AS release, class.class, {valued.columns}
FROM counted AS valued
JOIN classes AS class ON class.class_id IS NOT DISTINCT FROM valued.class_id
