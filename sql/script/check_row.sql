-- Each written row with its class: class_id, and the {columns} that requirements read as {read}.
--
-- candidate: the {keys} and the {columns}; check_class: class_id and {names}, as check_class.sql returns them. The row
-- ('a', 1) has the number of the class ('a', 1).
SELECT class.class_id, {candidate.columns} AS "{read}"
FROM candidate
JOIN check_class AS class ON {candidate.keys} IS NOT DISTINCT FROM {class.names}
