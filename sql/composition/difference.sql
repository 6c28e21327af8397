-- The respondents of a set, whole, who are not in another, part: at least as many of them have a value as the one set has more rows with it
-- than the other, but for rows that are nobody's. total is the sum of more over all values.
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
