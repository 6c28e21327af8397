-- The blocks that hold a row with a value in excess, and that value: block, key ($index), value.
SELECT placed.block, excess.key, excess.value
FROM placed
JOIN keyed ON placed.row = keyed.row
JOIN excess ON {keyed.key} = excess.value AND excess.key = $index
