-- Look for: one sort: by the region (0, for there are none), the code, and a draw of each row; the second query:
-- rowids follow each other, for the dealing computes with them.

CREATE TEMPORARY TABLE "__sqlanon_sorted_rows_1" AS
SELECT "region", "code_0", "column_0", "column_1", "column_2"
FROM (
  SELECT
    CAST(0 AS BIGINT) AS "region", CAST("code_0"."code" AS INT) AS "code_0", udf(0) AS "draw",
    "source"."dob" AS "column_0", "word_1"."word" AS "column_1", "word_2"."word" AS "column_2"
  FROM "memory"."main"."patients" AS "source"
  JOIN "__sqlanon_codes_1" AS "code_0" ON "source"."disease" IS NOT DISTINCT FROM "code_0"."value"
  JOIN "__sqlanon_words_1" AS "word_1" ON "source"."sex" IS NOT DISTINCT FROM "word_1"."value"
  JOIN "__sqlanon_words_2" AS "word_2" ON "source"."zip" IS NOT DISTINCT FROM "word_2"."value"
) AS "row"
ORDER BY "code_0" ASC NULLS LAST, "draw" ASC NULLS LAST;

SELECT COALESCE(MIN("row"."rowid"), 0), COALESCE(MAX("row"."rowid") - MIN("row"."rowid") + 1, 0), COUNT(*)
FROM "__sqlanon_sorted_rows_1" AS "row";
