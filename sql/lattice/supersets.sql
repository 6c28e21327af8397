-- Each class with the part of its key that each vector of levels keeps: class_id, superset_id.
--
-- equivalence_class: class_id; vector: {masks}, the bits of each word of a key that a vector of levels keeps, and vector,
-- its number. $keys are the words of the key in a class_id, and $index is the node's index there. Keys 5 and 7 are in
-- different classes, and in one superset by a vector with the mask 4.
SELECT class.class_id,
  {'tag': $index, 'vector': vector.vector, "{masks}": (($keys) & {vector.masks})} AS superset_id
FROM equivalence_class AS class
CROSS JOIN vectors AS vector
