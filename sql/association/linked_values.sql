-- For each group of a fragment the number of different tuples that it is linked to: group_id, tuples.
--
-- linked: the table of linked.sql, a row for each tuple. A group that is linked to no tuple has 0.
SELECT groups.group_id, count(linked.n) AS tuples
FROM (SELECT DISTINCT {group} AS group_id FROM fragment) AS groups
LEFT JOIN linked ON groups.group_id IS NOT DISTINCT FROM linked.group_id
GROUP BY groups.group_id
