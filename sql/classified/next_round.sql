-- The classes that the next round checks: round, class_id, the classes of `rounds` that did not violate.
--
-- rounds: round, class_id, the round before, with a row of class_id NULL; round_violating: class_id. There is no next
-- round if nothing violates, or after round $last. If class 2 of the classes 1, 2 and 3 violates, it has NULL, 1 and 3.
SELECT round + 1 AS round, class_id
FROM rounds
WHERE (class_id IS NULL OR NOT class_id IN (SELECT class_id FROM round_violating))
  AND EXISTS(SELECT 1 FROM round_violating) AND round < $last
