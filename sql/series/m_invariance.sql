-- title: Each class has m rows at the least, no sensitive value twice, and each respondent the same values to choose from in every release.
-- paper: Xiao and Tao, m-invariance: towards privacy preserving re-publication of dynamic datasets (2007)
-- parameter: m BIGINT 2 9223372036854775807 -- the least number of rows of a class
-- falls: no -- a union of two classes may have a value twice
-- reads: class_value, member

-- What is achieved is 1 where a class has a value twice, or a respondent another signature than before: then nothing is
-- promised. The signature of a respondent is the set of values of the respondent's class.

-- statement: figures
WITH signature AS (
  SELECT release, class, list(code ORDER BY code ASC NULLS LAST) AS codes, sum(n) AS size, max(n) AS most
  FROM class_value
  GROUP BY release, class
), changed AS (
  SELECT m.respondent
  FROM member AS m
  JOIN signature AS s ON s.release = m.release AND s.class = m.class
  GROUP BY m.respondent
  HAVING count(DISTINCT s.codes) > 1
)
SELECT CASE WHEN max(most) > 1 OR max(others) > 0 THEN CAST(1 AS DOUBLE) ELSE CAST(min(size) AS DOUBLE) END AS achieved,
  coalesce(max(most) = 1 AND max(others) = 0 AND min(size) >= $m, true) AS satisfied
FROM signature
CROSS JOIN (SELECT count(*) AS others FROM changed) AS counted
