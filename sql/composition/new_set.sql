-- The sets of respondents whose rows are all known and that are new: set_no, whole, part, of_family, family,
-- members_key, people, nobody. Such a set is the rest of a set without all its exact parts of one family, or the
-- respondents that a set shares with an exact part.
--
-- Sets of one family have no respondent in common, so their parts can be subtracted together; subtracting each choice
-- of them would only make sets whose rows are combinations of the others. The smallest sets come first. parameters: $1
-- the number of known sets, $2 the greatest number of respondents of all new sets together, each set counted
SELECT set_no, whole, part, of_family, family, members_key, people, 0 AS nobody
FROM (
  SELECT m.whole, m.part, m.of_family, m.members_key, m.people,
    (SELECT max(family) FROM known_set)
      + dense_rank() OVER (ORDER BY m.whole_family ASC NULLS LAST, m.of_family ASC NULLS LAST, m.part IS NULL ASC NULLS LAST) AS family,
    $1 + row_number() OVER by_size AS set_no, sum(m.people) OVER by_size AS together
  FROM (
    SELECT u.*, row_number() OVER (
        PARTITION BY u.members_key ORDER BY u.whole ASC NULLS LAST, u.of_family ASC NULLS LAST, u.part ASC NULLS LAST
      ) AS place
    FROM (
      SELECT e.whole, NULL AS part, w.family AS whole_family, e.family AS of_family,
        xor(w.members_key, bit_xor(e.shared_key)) AS members_key, w.people - sum(e.shared) AS people
      FROM exact AS e
      JOIN known_set AS w ON w.set_no = e.whole
      GROUP BY e.whole, e.family, w.family, w.members_key, w.people
      UNION ALL
      SELECT e.whole, e.part, w.family AS whole_family, e.family AS of_family, e.shared_key AS members_key, e.shared AS people
      FROM exact AS e
      JOIN known_set AS w ON w.set_no = e.whole
      WHERE NOT e.within
    ) AS u
  ) AS m
  LEFT JOIN known_set AS s ON s.members_key = m.members_key
  WHERE m.place = 1 AND s.set_no IS NULL AND m.people > 0
  WINDOW by_size AS (
    ORDER BY m.people ASC NULLS LAST, m.whole ASC NULLS LAST, m.of_family ASC NULLS LAST, m.part ASC NULLS LAST
    ROWS UNBOUNDED PRECEDING
  )
) AS numbered
WHERE together <= $2
