-- The number of wrong rows of an association, and for each further fragment the blocks linked to the first fragment's.
--
-- read: the rows in the order of their groups, numbered from 0, with {names}, their groups. A row is wrong unless all
-- of $sound are true; NULL counts as wrong. A block of a fragment has as many groups as $sizes has for it, and $rows
-- rows; the first row of each block shows to which blocks of the further fragments it is linked.
SELECT count(CASE WHEN wrong THEN 1 END), count(DISTINCT {further})
FROM (
  SELECT NOT coalesce($sound, FALSE) AS wrong, ({groups} - 1) // $sizes AS "{further}"
  FROM read
  WHERE number % $rows = 0 OR NOT coalesce($sound, FALSE)
) AS checked
