-- Differences of sets whose rows are all known, each set of respondents once, and none that is known.
-- parameter: $1 the number of sets that are known
SELECT $1 + row_number() OVER (ORDER BY whole ASC NULLS LAST, part ASC NULLS LAST) AS set_no, whole, part, members_key, people,
  0 AS nobody
FROM (
  SELECT d.whole, d.part, d.members_key, max(d.people) AS people,
    row_number() OVER (PARTITION BY d.members_key ORDER BY d.whole ASC NULLS LAST, d.part ASC NULLS LAST) AS place
  FROM difference AS d
  LEFT JOIN known_set AS s ON s.members_key = d.members_key
  WHERE s.set_no IS NULL AND d.people > 0 AND d.nobody = 0 AND d.total = d.people
  GROUP BY d.whole, d.part, d.members_key
) AS exact
WHERE place = 1
