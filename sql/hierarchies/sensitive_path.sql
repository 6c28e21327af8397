-- code, branch, level_0 (the value as text), {levels}: a row for each value of a sensitive attribute's hierarchy.
-- tables: labels(value, {levels}, ...), codes(value_0, code); parameter: $branch, the number of the value's branch
SELECT coded.code, $branch AS branch, path.value::VARCHAR AS level_0, {path.levels}
FROM labels AS path
LEFT JOIN codes AS coded ON path.value IS NOT DISTINCT FROM coded.value_0
