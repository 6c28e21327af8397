-- {sets}, n, most: the number of a class's lists with a set, and of those with the set's most frequent sensitive item.
-- table: counted({sets}, value, n) n lists have the set and the value; $no_value is the value that each list has once
SELECT {sets}, max(CASE WHEN NOT value <> $no_value THEN n END) AS n,
  coalesce(max(CASE WHEN value <> $no_value THEN n END), 0) AS most
FROM counted
GROUP BY {sets}
