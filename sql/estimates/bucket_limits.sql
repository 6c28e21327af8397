-- The number of rows of a bucket that may satisfy a query, and that may fail, for each group (key) and aggregate
-- (number).
--
-- A value of a bucket belongs to as many of its rows as the bucket has it. So of the m rows of a bucket that may
-- satisfy, the number of rows that satisfy with a value is at most the value's frequency, and at most the number of
-- rows that may satisfy with it (satisfying). The number of rows that fail with a value is bounded in the same way
-- (failing). Rows that satisfy with every value are counted first, and leave the values to the others: at most as many
-- of the `open` rows fail as there are values that fail whatever values the row has at other places (apart). The sum of
-- `apart` over all places bounds the failing rows if the component is `whole`: each of its rows fails by single values.
--
-- A component has the same rows at all its `places`: a bucket that the places share, or all rows, if each place has its
-- own buckets (the groups that link tables). combination has, besides the columns that estimate.sql reads, the number
-- of `ways` in which a class takes values.
WITH counted AS (
  SELECT *, count(*) OVER (PARTITION BY id, key, number) AS holding
  FROM combination
  WHERE holds
), class AS (
  SELECT
    component, id, key, number,
    any_value(drawn) AS drawn,
    any_value(n) AS n,
    any_value(holding) AS holding,
    any_value(holding = ways) AS certain
  FROM counted
  GROUP BY component, id, key, number
), asked AS (
  SELECT
    component, place, bucket, key, number,
    any_value(total) AS total,
    sum(n) AS possible,
    sum(CASE WHEN certain THEN 0 ELSE n END) AS open
  FROM (SELECT component, key, number, n, certain, unnest(drawn, recursive := true) FROM class) AS taken
  GROUP BY component, place, bucket, key, number
), taken AS (
  SELECT id, key, number, n, ways, holding, holding = ways AS certain, unnest(drawn, recursive := true)
  FROM counted
), held AS (
  -- What a class may satisfy with: with the values of a signature, in some of its combinations or in all.
  SELECT
    id, key, number, place, bucket, signature,
    any_value(n) AS n,
    any_value(weight) AS weight,
    any_value(holding) AS holding,
    any_value(certain) AS certain,
    count(*) * any_value(signatures) = any_value(ways) AS always
  FROM taken
  GROUP BY id, key, number, place, bucket, signature
), box AS (
  -- A class fails by single values if it satisfies with every combination of those with which it does at each place.
  SELECT key, number, id, abs(product(signatures) - any_value(holding)) < 0.5 AS whole
  FROM (
    SELECT key, number, id, place, count(*) AS signatures, any_value(holding) AS holding
    FROM held
    GROUP BY key, number, id, place
  ) AS side
  GROUP BY key, number, id
), whole AS (
  SELECT class.component, class.key, class.number, bool_and(class.certain OR box.whole) AS whole
  FROM class
  JOIN box ON class.id = box.id AND class.key IS NOT DISTINCT FROM box.key AND class.number = box.number
  GROUP BY class.component, class.key, class.number
), value AS (
  SELECT
    place, bucket, key, number, signature,
    any_value(weight) AS weight,
    sum(CASE WHEN certain THEN 0 ELSE n END) AS open,
    sum(CASE WHEN always THEN n ELSE 0 END) AS always
  FROM held
  GROUP BY place, bucket, key, number, signature
), places AS (
  SELECT component, key, number, count(DISTINCT place) AS places
  FROM asked
  GROUP BY component, key, number
)
SELECT
  asked.component, asked.place, asked.bucket, asked.key, asked.number,
  any_value(asked.possible) AS possible,
  any_value(asked.open) AS open,
  sum(least(value.weight, value.open)) AS satisfying,
  any_value(asked.total) - sum(value.weight) + sum(least(value.weight, asked.possible - value.always)) AS failing,
  any_value(asked.total) - sum(value.weight) + sum(least(value.weight, asked.open - value.open)) AS apart,
  any_value(whole.whole) AS whole,
  any_value(places.places) AS places
FROM asked
JOIN value ON asked.place = value.place AND asked.bucket IS NOT DISTINCT FROM value.bucket
  AND asked.key IS NOT DISTINCT FROM value.key AND asked.number = value.number
JOIN whole ON asked.component IS NOT DISTINCT FROM whole.component
  AND asked.key IS NOT DISTINCT FROM whole.key AND asked.number = whole.number
JOIN places ON asked.component IS NOT DISTINCT FROM places.component
  AND asked.key IS NOT DISTINCT FROM places.key AND asked.number = places.number
GROUP BY asked.component, asked.place, asked.bucket, asked.key, asked.number
