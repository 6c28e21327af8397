-- The labels of each leaf: value, level, label. A leaf of depth d is its own label from level 0 to the greatest depth
-- less d; at higher levels its ancestors are its labels. A single root is `*`, which is no label.
SELECT value, CAST(level AS INT) AS level, label
FROM (
  SELECT value, level, label
  FROM (
    SELECT leaf.node AS value, ((SELECT max(depth) FROM "tree leaf")) - at.depth AS level, leaf.node AS label
    FROM "tree leaf" AS leaf
    JOIN (SELECT DISTINCT depth FROM "tree depth") AS at ON at.depth >= leaf.depth
    UNION ALL
    SELECT leaf.node AS value, ((SELECT max(depth) FROM "tree leaf")) - above.depth AS level, above.node AS label
    FROM "tree leaf" AS leaf
    JOIN "tree ancestor" AS path ON path.node IS NOT DISTINCT FROM leaf.node
    JOIN "tree depth" AS above ON above.node = path.ancestor
    WHERE above.depth > 0 OR (SELECT count(*) FROM "tree edge" WHERE parent IS NULL) > 1
  ) AS part
) AS long
