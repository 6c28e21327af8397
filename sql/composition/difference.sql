-- The respondents who are in a set, whole, but not in another set, part, and their values: whole, part, people,
-- members_key, nobody, shown, more, total.
--
-- At least `more` of them have the value `shown`: the rows with the value that the first set has beyond the second,
-- except for rows of nobody. total is the sum of more over all values.
SELECT whole, part, people, members_key, nobody, shown, more, sum(more) OVER (PARTITION BY whole, part) AS total
FROM (
  SELECT o.whole, o.part, s.people - o.shared AS people, xor(s.members_key, o.shared_key) AS members_key, s.nobody, v.shown,
    sum(greatest(v.n - coalesce(p.n, 0), 0)) AS more
  FROM (
    SELECT whole, part, shared, shared_key FROM pair
    UNION ALL
    SELECT part AS whole, whole AS part, shared, shared_key FROM pair
  ) AS o
  JOIN known_set AS s ON s.set_no = o.whole
  JOIN set_value AS v ON v.set_no = o.whole
  LEFT JOIN set_value AS p ON p.set_no = o.part AND p.code = v.code
  GROUP BY o.whole, o.part, o.shared, o.shared_key, s.people, s.members_key, s.nobody, v.shown
) AS compared
WHERE more > 0
