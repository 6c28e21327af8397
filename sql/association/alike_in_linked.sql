-- The groups of a fragment that are linked to two rows with the same values (deep heterogeneity): group_id.
--
-- linked: the table of linked.sql, a row for each tuple of values with the number n of its rows.
SELECT DISTINCT group_id FROM linked WHERE n > 1
