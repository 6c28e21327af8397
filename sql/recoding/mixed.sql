-- The rows of a release with some columns shuffled within each group, in a random order; the values of one row in these
-- columns stay together. In: released. {columns}: the shuffled columns; {others}: all other columns, {group} among them;
-- draw(n): the function that returns random bits. Out: {outputs}, the columns in their order, of "row" or of value.
-- Example: with the group bucket and the column disease, each bucket keeps its diseases, in other rows.
-- Materialized, because both sides have to read the same random numbers.
WITH drawn AS MATERIALIZED (
  SELECT *, draw(0) AS __sqlanon_row_order, draw(1) AS __sqlanon_value_order FROM released
)
SELECT {outputs}
FROM (
  SELECT {others},
    row_number() OVER (PARTITION BY {group} ORDER BY __sqlanon_row_order ASC NULLS LAST) AS __sqlanon_position
  FROM drawn
) AS "row"
JOIN (
  SELECT {group}, {columns},
    row_number() OVER (PARTITION BY {group} ORDER BY __sqlanon_value_order ASC NULLS LAST) AS __sqlanon_position
  FROM drawn
) AS value ON {row.group} = {value.group} AND "row".__sqlanon_position = value.__sqlanon_position
