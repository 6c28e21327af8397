SELECT
  *, ROW_NUMBER() OVER (ORDER BY "draw" ASC NULLS LAST) - 1 AS "number", GREATEST(1, COUNT(*) OVER () // 8) AS "slots"
FROM (
  SELECT *, udf(0) AS "draw"
  FROM (
    SELECT CAST(0 AS INT) AS "label", "key_0"
    FROM (SELECT *, UNNEST(RANGE(0, "n")) AS "copy" FROM "__sqlanon_cells_1") AS "repeated"
  ) AS "point"
) AS "drawn"
