-- Look for: a stratum is what rows show of the columns that are not aggregated, texts by their bytes, and where they
-- have NULL; numbers leave the database as DOUBLE, 0 in place of NULL.

CREATE TEMPORARY TABLE "__sqlanon_rows_1" AS
SELECT
  "source"."rowid" AS "row", "source"."sex" AS "label_1", CAST("source"."born" AS DOUBLE) AS "value_0",
  CAST("source"."zip" AS DOUBLE) AS "value_1",
  DENSE_RANK() OVER (
    ORDER BY CAST("source"."sex" AS TEXT) COLLATE "binary" ASC NULLS LAST, "source"."born" IS NULL ASC NULLS LAST, "source"."zip" IS NULL ASC NULLS LAST
  ) - 1 AS "stratum",
  ROW_NUMBER() OVER (ORDER BY "source"."rowid" ASC NULLS LAST) - 1 AS "number"
FROM "temp"."main"."__sqlanon_source_2" AS "source";

SELECT COUNT(*) FROM "__sqlanon_rows_1" WHERE NOT "value_0" IS NULL AND NOT isfinite("value_0");
SELECT COUNT(*) FROM "__sqlanon_rows_1" WHERE NOT "value_1" IS NULL AND NOT isfinite("value_1");

SELECT
  "stratum", COALESCE("value_0", 0) AS "value_0", COALESCE("value_1", 0) AS "value_1",
  "value_0" IS NULL AS "value_0_null", "value_1" IS NULL AS "value_1_null"
FROM "__sqlanon_rows_1"
ORDER BY "number" ASC NULLS LAST;
