-- The groups of a fragment with two rows that have the same values in these attributes (group heterogeneity): group_id.
SELECT DISTINCT {fragment.group} AS group_id
FROM fragment
GROUP BY {fragment.group}, {fragment.attributes}
HAVING count(*) > 1
