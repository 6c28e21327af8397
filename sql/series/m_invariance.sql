-- title: Each class has at least m rows and no sensitive value twice, and each respondent has a class with the same sensitive values in every release.
-- paper: Xiao and Tao, m-invariance: towards privacy preserving re-publication of dynamic datasets (2007)
-- parameter: m BIGINT 2 9223372036854775807 -- the least number of rows of a class
-- falls: no -- a union of two classes may have a value twice
-- reads: class_value, class_row, member, class_key, former_key

-- achieved is 1 if a class has a value twice, or if a respondent's signature has changed: then the series promises nothing. The
-- signature of a respondent is the set of rows of the respondent's class, in the published columns other than the quasi-identifiers. It
-- is computed as the exclusive or of 128 bits of each row; two different sets have the same one with a probability of 2^-128.

-- statement: figures
WITH signature AS (
  SELECT v.release, v.class, max(r.codes) AS codes, sum(v.n) AS size, max(v.n) AS most
  FROM class_value AS v
  JOIN (
    SELECT release, class, bit_xor(md5_number(CAST(code AS VARCHAR))) AS codes FROM class_row GROUP BY release, class
  ) AS r ON r.release = v.release AND r.class = v.class
  GROUP BY v.release, v.class
), changed AS (
  SELECT m.respondent, max(m.people) AS people
  FROM member AS m
  JOIN signature AS s ON s.release = m.release AND s.class = m.class
  GROUP BY m.respondent
  HAVING min(s.codes) < max(s.codes)
)
SELECT CASE WHEN max(most) > 1 OR max(others) > 0 THEN CAST(1 AS DOUBLE) ELSE CAST(min(size) AS DOUBLE) END AS achieved,
  coalesce(max(most) = 1 AND max(others) = 0 AND min(size) >= $m, true) AS satisfied,
  coalesce(sum(CASE WHEN most > 1 THEN 1 ELSE 0 END), 0) AS classes_with_a_value_twice,
  coalesce(sum(CASE WHEN size < $m THEN 1 ELSE 0 END), 0) AS classes_that_are_too_small,
  coalesce(max(others), 0) AS respondents_with_another_signature
FROM signature
CROSS JOIN (SELECT coalesce(sum(people), 0) AS others FROM changed) AS counted

-- statement: latest
-- Whether the last release satisfies the model, if the earlier releases do. class_key has the signature of each class of the last
-- release. former_key has a row for each respondent who is also in an earlier release: the class in the last release, and the signature
-- in the latest earlier one. By the assumption this signature is that of all earlier releases.
SELECT coalesce(max(n) = 1 AND max(others) = 0 AND min(size) >= $m, true) AS satisfied
FROM class_key
CROSS JOIN (
  SELECT coalesce(sum(CASE WHEN k.key <> f.key THEN 1 ELSE 0 END), 0) AS others
  FROM former_key AS f
  JOIN class_key AS k ON k.class_no = f.class
) AS changed
