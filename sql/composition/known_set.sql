-- Sets of respondents whose rows are known in number: the classes of all releases. Returns set_no, release, class,
-- family, members_key, people, nobody.
--
-- Classes of the same respondents with the same rows are one set. Sets of one family, here of one release, have no
-- respondent in common. nobody is the number of rows of a set that belong to nobody (counterfeits). members_key differs
-- for sets of other respondents.
SELECT row_number() OVER (ORDER BY release ASC NULLS LAST, class ASC NULLS LAST) AS set_no, release, class, release AS family,
  members_key, people, nobody
FROM (
  SELECT m.release, m.class, m.members_key, m.people, greatest(v.n - m.people, 0) AS nobody,
    row_number() OVER (
      PARTITION BY m.members_key, v.values_key ORDER BY m.release ASC NULLS LAST, m.class ASC NULLS LAST
    ) AS place
  FROM (
    SELECT release, class, bit_xor(md5_number(CAST(respondent AS VARCHAR))) AS members_key, sum(people) AS people
    FROM member
    GROUP BY release, class
  ) AS m
  JOIN (
    SELECT release, class, bit_xor(md5_number(concat_ws(':', code, n))) AS values_key, sum(n) AS n
    FROM class_value
    GROUP BY release, class
  ) AS v ON v.release = m.release AND v.class = m.class
) AS of_class
WHERE place = 1
