-- The members of the classes of a release, $release: release, class, label, respondent. classes: class_id, label,
-- class.
SELECT $release AS release, class.class, class.label, person.respondent
FROM person
JOIN classes AS class ON class.class_id IS NOT DISTINCT FROM person.class_id
