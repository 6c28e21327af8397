-- Which blocks hold a row with which of the values that are in excess: block, key ($index), value.
SELECT placed.block, excess.key, excess.value
FROM placed
JOIN keyed ON placed.row = keyed.row
JOIN excess ON {keyed.key} = excess.value AND excess.key = $index
