-- item_rule(rule, confidence): every rule from a set of items to another item that is secret, with the share of the
-- set's lists that have this item.
--
-- itemset: the sets of items that some list has, including the empty set, and the number of their lists (n). A set with
-- a secret item is a rule from the other items to this one.
WITH split AS (
  SELECT codes, n, unnest(codes) AS named FROM itemset
), rule AS (
  SELECT known.codes, split.named, split.n AS hits, known.n
  FROM split
  JOIN code ON split.named = code.code AND code.secret
  JOIN itemset AS known ON list_filter(split.codes, lambda part: part <> split.named) = known.codes
), part AS (
  SELECT codes, named, unnest(codes) AS code FROM rule
), text AS (
  SELECT part.codes, part.named, string_agg(coalesce(code.item, 'NULL'), ', ' ORDER BY code.code ASC NULLS LAST) AS known
  FROM part
  JOIN code ON part.code = code.code
  GROUP BY part.codes, part.named
)
SELECT
  coalesce(text.known, '(nothing)') || ' -> ' || coalesce(code.item, 'NULL') AS rule,
  CAST(rule.hits AS DOUBLE) / CAST(rule.n AS DOUBLE) AS confidence
FROM rule
JOIN code ON rule.named = code.code
LEFT JOIN text ON rule.codes = text.codes AND rule.named = text.named
