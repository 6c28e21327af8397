-- The candidates that remain after one round: respondent, code, shown, weight. The others are in no world that agrees
-- with all releases.
--
-- If all rows of a class with a value have certain holders, nobody else has the value. If at most as many people can
-- have a value as rows have it, these people have it, unless some rows of the class belong to nobody (counterfeits).
WITH known AS (
  SELECT respondent, count(*) AS number FROM candidate GROUP BY respondent
), counted AS (
  SELECT m.release, m.class, c.code, sum(m.people) AS takers,
    sum(CASE WHEN k.number = 1 THEN m.people ELSE 0 END) AS holders
  FROM candidate AS c
  JOIN member AS m ON m.respondent = c.respondent
  JOIN known AS k ON k.respondent = c.respondent
  GROUP BY m.release, m.class, c.code
), whole AS (
  SELECT s.release, s.class, s.n <= m.people AS whole
  FROM (SELECT release, class, sum(n) AS n FROM class_value GROUP BY release, class) AS s
  JOIN (SELECT release, class, sum(people) AS people FROM member GROUP BY release, class) AS m
    ON m.release = s.release AND m.class = s.class
), judged AS (
  SELECT c.respondent, c.code, c.shown, max(c.weight) AS weight,
    max(CASE WHEN t.holders >= v.n AND k.number > 1 THEN 1 ELSE 0 END) AS excluded,
    max(CASE WHEN t.takers <= v.n AND w.whole THEN 1 ELSE 0 END) AS forced
  FROM candidate AS c
  JOIN known AS k ON k.respondent = c.respondent
  JOIN member AS m ON m.respondent = c.respondent
  JOIN counted AS t ON t.release = m.release AND t.class = m.class AND t.code = c.code
  JOIN class_value AS v ON v.release = m.release AND v.class = m.class AND v.code = c.code
  JOIN whole AS w ON w.release = m.release AND w.class = m.class
  GROUP BY c.respondent, c.code, c.shown
), told AS (
  SELECT respondent, max(forced) AS forced FROM judged GROUP BY respondent
)
SELECT j.respondent, j.code, j.shown, j.weight
FROM judged AS j
JOIN told AS t ON t.respondent = j.respondent
WHERE j.excluded = 0 AND (t.forced = 0 OR j.forced = 1)
