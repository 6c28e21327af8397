-- The share of each label's leaves that are below each large node; all leaves are below the top, 0: code, node, share.
--
-- labels: label, code; leaf: label, value, weight; codes: value and the code of its most specific large node; chains:
-- code and the nodes above it. Leaves of one code are added up before the nodes above it multiply them.
SELECT coded.code, above.node, sum(part.share) AS share
FROM (
  SELECT leaf.label, codes.code, sum(leaf.weight) / sum(sum(leaf.weight)) OVER (PARTITION BY leaf.label) AS share
  FROM leaf
  LEFT JOIN codes ON leaf.value IS NOT DISTINCT FROM codes.value
  GROUP BY leaf.label, codes.code
) AS part
JOIN chains AS above ON part.code = above.code
JOIN labels AS coded ON part.label IS NOT DISTINCT FROM coded.label
WHERE above.node <> 0
GROUP BY coded.code, above.node
UNION ALL
SELECT code, 0 AS node, CAST(1.0 AS DOUBLE) AS share
FROM labels
