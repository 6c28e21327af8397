-- The labels of some columns at one level of each: release_id, attribute, value, label.
--
-- The column at a place of $attributes has the level there in $levels of the hierarchy there in $hierarchies. NULL stays
-- a separate value, with NULL as its label, unless the hierarchy lists it.
SELECT $release AS release_id, named.attribute, listed.value, listed.label
FROM (
  SELECT unnest([$attributes]) AS attribute, unnest([$hierarchies]) AS hierarchy, unnest([$levels]) AS level
) AS named
JOIN anon.hierarchy_value AS listed ON listed.hierarchy = named.hierarchy AND listed.level = named.level
UNION ALL
SELECT $release AS release_id, named.attribute, NULL AS value, NULL AS label
FROM (
  SELECT unnest([$attributes]) AS attribute, unnest([$hierarchies]) AS hierarchy, unnest([$levels]) AS level
) AS named
ANTI JOIN anon.hierarchy_value AS listed
  ON listed.hierarchy = named.hierarchy AND listed.level = named.level AND listed.value IS NULL
