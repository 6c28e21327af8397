-- The classes of released rows in the columns that figures.sql reads, from the leaves that each class may represent.
--
-- combination has a row for each class of released rows that show the same (id, n rows) and each combination of leaves
-- below its labels: its share of all combinations, whether rows with these leaves satisfy the query, and the values of
-- these rows. A row that satisfies with every leaf is certain, a row that satisfies with some leaf is possible.
WITH counted AS (
  SELECT
    *,
    count(*) OVER (PARTITION BY id, number) AS combinations,
    bool_or(share IS NULL) OVER (PARTITION BY id, number) AS unknown
  FROM combination
)
SELECT
  id, key, number,
  any_value(unit) AS unit,
  any_value(n) AS n,
  count_if(holds) = any_value(combinations) AS certain,
  count_if(holds) > 0 AS possible,
  count_if(holds) > 0 AS below,
  count_if(holds) > 0 AS above,
  CASE
    WHEN count_if(holds) = any_value(combinations) THEN 1.0
    WHEN count_if(holds) = 0 THEN 0.0
    WHEN any_value(unknown) THEN NULL
    ELSE least(1.0, sum(share) FILTER (WHERE holds))
  END AS p,
  CASE
    WHEN count_if(holds) = 0 THEN 0.0
    WHEN any_value(unknown) OR count_if(holds AND share > 0 AND mean IS NULL) > 0 THEN NULL
    ELSE coalesce(sum(share * mean) FILTER (WHERE holds AND share > 0), 0.0)
  END AS first,
  CASE
    WHEN count_if(holds) = 0 THEN 0.0
    WHEN any_value(unknown) OR count_if(holds AND share > 0 AND mean IS NULL) > 0 THEN NULL
    ELSE coalesce(sum(share * square) FILTER (WHERE holds AND share > 0), 0.0)
  END AS second,
  CASE WHEN count_if(holds AND least IS NULL) = 0 THEN min(least) FILTER (WHERE holds) END AS least,
  CASE WHEN count_if(holds AND greatest IS NULL) = 0 THEN max(greatest) FILTER (WHERE holds) END AS greatest
FROM counted
GROUP BY id, key, number
