-- guard_label(node, code, level, highest): labels with a guarding node's text, and the values below them.
-- A text may be a label at several levels; `highest` is the most general one. `*` is not a label.
-- tables: coded(guard, node), labels(code, level, label)
SELECT coded.node, labels.code, labels.level, max(labels.level) OVER (PARTITION BY coded.node) AS highest
FROM coded
JOIN labels ON coded.guard = labels.label AND coded.guard <> '*'
