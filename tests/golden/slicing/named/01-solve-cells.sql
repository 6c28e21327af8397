-- Look for: all rows as one region, 0, and each requirement by itself: the error names the one that is not met; k-anonymity counts the
-- region's rows, l-diversity those of a class, the region and the part: the value of sex beside the disease.

SELECT COUNT(*)
FROM (
  WITH "half_row" AS ({half_row(32, 5)}), "class_sensitive_value_0" AS (
    {class_sensitive_value_0-5}
  ), "part_class_0" AS ({part_class_0("class_sensitive_value_0", "class_row")}), "equivalence_class" AS (
    {part_class_0("half_row", "class_row")}
  ), "sensitive_value_0" AS (SELECT * FROM "__sqlanon_sensitive_value_0_1")
  SELECT DISTINCT "class_id" AS "region"
  FROM ({violation(3)}) AS "violation"
) AS "broken";

SELECT COUNT(*) FROM ({broken-2(32, 5)}) AS "broken";
