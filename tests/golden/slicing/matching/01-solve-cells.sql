-- Look for: l-diversity of the whole table, which is a bucket that everybody matches: it is asked there whatever is asked of slots.

SELECT COUNT(*)
FROM (
  WITH "half_row" AS ({half_row(32, 5)}), "class_sensitive_value_0" AS (
    {class_sensitive_value_0-5}
  ), "part_class_0" AS ({part_class_0("class_sensitive_value_0", "class_row")}), "equivalence_class" AS (
    {part_class_0("half_row", "class_row")}
  )
  SELECT DISTINCT "class_id" AS "region"
  FROM ({violation(10)}) AS "violation"
) AS "broken";

SELECT COUNT(*)
FROM (
  WITH "half_row" AS ({half_row(32, 5)}), "class_sensitive_value_0" AS (
    {class_sensitive_value_0-5}
  ), "part_class_0" AS ({part_class_0("class_sensitive_value_0", "class_row")}), "equivalence_class" AS (
    {part_class_0("half_row", "class_row")}
  )
  SELECT DISTINCT ("class_id" >> 31) AS "region"
  FROM ({violation-9}) AS "violation"
) AS "broken";
