SELECT
  0 AS "class_id", (("key_0" & 15360) >> 10) AS "subject_0", CAST((("key_0" & {#1}) >> {#2}) AS INT) AS "part_0",
  "n" AS "n"
FROM "__sqlanon_cells_1"
