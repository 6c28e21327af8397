-- The tuples of a fragment's attributes to which each group of another fragment is linked, and their numbers of rows.
--
-- association: the groups of each row, among them pair_group and pair_other, the groups of the two fragments. fragment:
-- the table that has the tuples. Returns group_id, n.
SELECT pair.group_id, count(*) AS n
FROM (SELECT DISTINCT {association.pair_group} AS group_id, {association.pair_other} AS other_id FROM association) AS pair
JOIN fragment ON pair.other_id IS NOT DISTINCT FROM {fragment.group}
GROUP BY pair.group_id, {fragment.attributes}
