-- The members of classes, where one respondent represents all respondents who are in the same classes of all releases:
-- release, class, label, respondent (a new number), people (the number of respondents represented).
--
-- Respondents are compared by the exclusive or of 128 bits of each of their classes; two respondents of different
-- classes have the same result with a probability of 2^-128.
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
