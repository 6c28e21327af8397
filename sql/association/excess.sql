-- The values of a key that more than one in $k of the $count rows have: key ($index), value, lack.
--
-- lack is the least number of rows with other values after which one in k of all rows has the value.
SELECT $index AS key, {key} AS value, count(*) * $k - $count AS lack
FROM rows
GROUP BY {key}
HAVING count(*) * $k - $count > 0
