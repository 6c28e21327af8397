-- The pairs of groups that the association has more than once (association heterogeneity): group_id, other_id.
SELECT {association.group} AS group_id, {association.other} AS other_id
FROM association
GROUP BY {association.group}, {association.other}
HAVING count(*) > 1
