-- The number of classes that have as many respondents, one row each, as the release has rows. classes: class_id, size.
SELECT count(*)
FROM classes AS class
JOIN (
  SELECT class_id, count(*) AS people, count(DISTINCT respondent) AS respondents FROM person GROUP BY class_id
) AS person ON class.class_id IS NOT DISTINCT FROM person.class_id AND person.people = class.size
  AND person.respondents = class.size
