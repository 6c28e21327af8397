-- The classes in which an attack has the greatest confidence, as the release shows them, without any row of its source.
SELECT class_id, sum(targets) AS targets_of_class, max(confidence) AS surest
FROM attacked_class
WHERE targets > 0
GROUP BY class_id
ORDER BY max(confidence) DESC NULLS LAST, sum(targets) DESC NULLS LAST, class_id ASC NULLS LAST
LIMIT 10
