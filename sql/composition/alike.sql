-- Respondents who are in the same classes of the same releases: one of them, who gets a number, speaks for all, who are `people`. Their
-- classes are compared by the exclusive or of 128 bits of each, which differ for others but with a probability of 2^-128 a pair.
SELECT m.release, m.class, m.label, k.number AS respondent, k.people
FROM (
  SELECT min(respondent) AS respondent, count(*) AS people, row_number() OVER (ORDER BY classes ASC NULLS LAST) AS number
  FROM (
    SELECT respondent, bit_xor(md5_number(concat_ws(':', release, class))) AS classes
    FROM member
    GROUP BY respondent
  ) AS known
  GROUP BY classes
) AS k
JOIN member AS m ON m.respondent = k.respondent
