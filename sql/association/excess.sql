-- The values of a key that more than one in $k of the $count rows have: key ($index), value, lack.
--
-- lack is how many rows of other values, at least, would make the value one in k of all.
SELECT $index AS key, {key} AS value, count(*) * $k - $count AS lack
FROM rows
GROUP BY {key}
HAVING count(*) * $k - $count > 0
