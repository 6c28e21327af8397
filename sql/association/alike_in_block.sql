-- Counts the tuples of the attributes that two rows of one block have; a block has $groups groups.
SELECT count(*)
FROM (
  SELECT count(*) AS n
  FROM fragment
  GROUP BY ({fragment.group} - 1) // $groups, {fragment.attributes}
  HAVING count(*) > 1
) AS alike
