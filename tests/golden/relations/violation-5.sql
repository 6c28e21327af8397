SELECT "class_id", MAX("size") AS "size", MAX("excess") AS "excess"
FROM (
  ({class_of_set("class_of_set_0", "equivalence_class_on_0")})
  UNION ALL
  ({class_of_set-2("class_of_set_1", "class_sensitive_value_0_on_1")})
) AS "violation"
GROUP BY "class_id"
