-- Look for: whether the whole table can have an attribute beside the disease: l-diversity alone is asked, with its values as part.

SELECT COUNT(*) FROM ({broken-2(960, 6)}) AS "broken";

SELECT COUNT(*)
FROM (
  WITH "half_row" AS (
    SELECT
      0 AS "class_id", (("key_0" & 15360) >> 10) AS "subject_0", CAST((("key_0" & 31)) AS INT) AS "part_0", "n" AS "n"
    FROM "__sqlanon_cells_1"
  ), "class_sensitive_value_0" AS ({class_sensitive_value_0-5}), "part_class_0" AS (
    {part_class_0("class_sensitive_value_0", "class_row")}
  ), "equivalence_class" AS ({part_class_0("half_row", "class_row")}), "sensitive_value_0" AS (
    SELECT *
    FROM "__sqlanon_sensitive_value_0_1"
  )
  SELECT DISTINCT ("class_id" >> 31) AS "region"
  FROM ({violation-9}) AS "violation"
) AS "broken";
