WITH "half_row" AS ({half_row({#1}, {#2})}), "class_sensitive_value_0" AS (
  {class_sensitive_value_0-5}
), "part_class_0" AS ({part_class_0("class_sensitive_value_0", "class_row")}), "equivalence_class" AS (
  {part_class_0("half_row", "class_row")}
), "sensitive_value_0" AS (SELECT * FROM "__sqlanon_sensitive_value_0_1")
SELECT DISTINCT ("class_id" >> 31) AS "region"
FROM ({violation-9}) AS "violation"
