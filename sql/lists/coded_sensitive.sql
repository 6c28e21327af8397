-- coded_sensitive(class, list_id, value): the sensitive items of each list, and $no_value once for each list. tables:
-- coded(class, list_id, code), list(class_id, list_id), list_class(class_id, class)
SELECT class, list_id, code AS value FROM coded AS held
UNION ALL
SELECT of_class.class, listed.list_id, $no_value AS value
FROM list AS listed
JOIN list_class AS of_class ON listed.class_id IS NOT DISTINCT FROM of_class.class_id
