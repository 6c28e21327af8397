-- own_0, {names}: a side of a join, with one number for all values of X, {own}, that match the same rows of the other side.
-- table: side({own}, {names}); {names} are the shared columns and n; $row is a struct of them, $part the fields of `part`
SELECT own_0, $part AS "{names}"
FROM (
  SELECT own_0, unnest(rows) AS part
  FROM (
    SELECT row_number() OVER () AS own_0, rows
    FROM (
      SELECT DISTINCT rows
      FROM (SELECT list_sort(list($row)) AS rows FROM side GROUP BY {own}) AS each
    ) AS different
  ) AS alike
) AS parts
