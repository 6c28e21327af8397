-- Look for: the row's region first in the sort. All that follows is that of random groups.

CREATE TEMPORARY TABLE "__sqlanon_sorted_rows_1" AS
SELECT "region", "code_0", "column_0", "column_1", "column_2"
FROM (
  SELECT
    CAST("row_region"."region" AS BIGINT) AS "region", CAST("code_0"."code" AS INT) AS "code_0", udf(0) AS "draw",
    "source"."dob" AS "column_0", "word_1"."word" AS "column_1", "word_2"."word" AS "column_2"
  FROM "memory"."main"."patients" AS "source"
  JOIN "__sqlanon_codes_1" AS "code_0" ON "source"."disease" IS NOT DISTINCT FROM "code_0"."value"
  JOIN "__sqlanon_words_1" AS "word_1" ON "source"."sex" IS NOT DISTINCT FROM "word_1"."value"
  JOIN "__sqlanon_words_2" AS "word_2" ON "source"."zip" IS NOT DISTINCT FROM "word_2"."value"
  JOIN "__sqlanon_region_map_1" AS "row_region"
    ON "source"."dob" IS NOT DISTINCT FROM "row_region"."value_0"
    AND "source"."sex" IS NOT DISTINCT FROM "row_region"."value_1"
    AND "source"."zip" IS NOT DISTINCT FROM "row_region"."value_2"
) AS "row"
ORDER BY "region" ASC NULLS LAST, "code_0" ASC NULLS LAST, "draw" ASC NULLS LAST;
