-- The regions with `dim`, the attribute of the greatest width, the first if several are equal; NULL if no width is
-- known.
--
-- region: {columns}, {widths}, the width in each of $attributes, NULL where a region cannot be cut. Widths of 0.2, 0.5
-- and 0.5 choose the attribute 1. Returns {columns}, dim.
SELECT {columns}, CAST(CASE WHEN {widths} = widest THEN $attributes END AS INTEGER) AS dim
FROM (SELECT *, greatest({widths}) AS widest FROM region) AS most
