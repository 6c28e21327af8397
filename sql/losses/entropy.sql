-- One row for each node: index, its withheld rows, and for each attribute the entropy {sums} that these rows add.
--
-- This is the entropy of their values minus their cost at the node's level: the sum over the rows of log2(withheld rows
-- / rows of the value among them) - cost. withheld_cells: index, {keys}, n, as in withheld_cells.sql; value_masks:
-- attribute, {masks}, the bits of each attribute's value in a key; costs: attribute, level, {parts}, cost. $lists are
-- the parameters {names}, lists with an item for each node: index, mask of each word, level of each attribute; $indexes
-- is the first. log2_of(n) is a whole number of small units. Two withheld rows with different values, at cost 0, add 2
-- bits.
SELECT node.index, coalesce(max(value.withheld), 0) AS rows,
  CAST(coalesce(sum(CASE WHEN value.attribute = $attributes THEN CAST(value.n AS HUGEINT)
    * (log2_of(value.withheld) - log2_of(value.n) - coalesce(costs.cost, 0)) END), 0) AS HUGEINT) AS "{sums}"
FROM (SELECT unnest(CAST($indexes AS BIGINT[])) AS index) AS node
LEFT JOIN (
  SELECT *, sum(n) OVER (PARTITION BY index, attribute) AS withheld
  FROM (
    SELECT row.index AS index, value.attribute AS attribute,
      CASE WHEN value.attribute = $attributes THEN {node.levels} END AS level,
      ({row.keys} & {value.masks}) AS "{parts}", CAST(sum(row.n) AS BIGINT) AS n
    FROM withheld_cells AS row
    JOIN (SELECT unnest(CAST($lists AS BIGINT[])) AS "{names}") AS node ON row.index = node.index
    CROSS JOIN value_masks AS value
    GROUP BY row.index, value.attribute, CASE WHEN value.attribute = $attributes THEN {node.levels} END,
      ({row.keys} & {value.masks})
  ) AS lost
) AS value ON value.index = node.index
LEFT JOIN costs ON costs.attribute = value.attribute AND costs.level = value.level AND {costs.parts} = {value.parts}
GROUP BY node.index
