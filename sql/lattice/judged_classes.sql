-- Each class of some nodes, with its excess and whether it satisfies all requirements: class_id, size, excess,
-- satisfied.
--
-- equivalence_class: class_id, size; violation: class_id, excess, the classes that violate. The excess of a class that
-- satisfies is NULL. Say a and b have 2 and 5 rows, and a violates by 1: a, 2, 1, false, and b, 5, NULL, true.
SELECT class.class_id, class.size, violation.excess, violation.class_id IS NULL AS satisfied
FROM equivalence_class AS class
LEFT JOIN violation ON class.class_id = violation.class_id
