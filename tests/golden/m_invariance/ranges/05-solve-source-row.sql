-- Look for: ranks for ranges and positions for distances in place of the columns themselves.

CREATE TEMPORARY TABLE "__sqlanon_source_row_1" AS
SELECT
  ROW_NUMBER() OVER () AS "row_no", "coded"."code" AS "code", "known"."signature" AS "signature",
  NOT "former"."signature" IS NULL AND "known"."signature" IS NULL AS "changed", "ranked_0"."rank_0" AS "r_0",
  (
    ("ranked_0"."position" - (SELECT MIN("position") FROM "__sqlanon_ranked_1" AS "ranked")) / CAST(3732.0 AS DOUBLE)
  ) * CAST(1.0 AS DOUBLE) AS "position_0",
  "ranked_1"."rank_0" AS "r_1",
  (
    ("ranked_1"."position" - (SELECT MIN("position") FROM "__sqlanon_ranked_2" AS "ranked")) / CAST(1.0 AS DOUBLE)
  ) * CAST(1.0 AS DOUBLE) AS "position_1",
  "ranked_2"."rank_0" AS "r_2",
  (
    ("ranked_2"."position" - (SELECT MIN("position") FROM "__sqlanon_ranked_3" AS "ranked")) / CAST(6.0 AS DOUBLE)
  ) * CAST(1.0 AS DOUBLE) AS "position_2",
  "source"."number" AS "__sqlanon_respondent"
FROM "temp"."main"."__sqlanon_source_2" AS "source"
JOIN "__sqlanon_value_code_1" AS "coded" ON "source"."disease" IS NOT DISTINCT FROM "coded"."value"
LEFT JOIN "__sqlanon_signature_member_1" AS "former" ON "source"."number" = "former"."entity"
LEFT JOIN "__sqlanon_signature_code_1" AS "known"
  ON "former"."signature" = "known"."signature" AND "coded"."code" = "known"."code"
JOIN "__sqlanon_ranked_1" AS "ranked_0" ON "source"."dob" IS NOT DISTINCT FROM "ranked_0"."value"
JOIN "__sqlanon_ranked_2" AS "ranked_1" ON "source"."sex" IS NOT DISTINCT FROM "ranked_1"."value"
JOIN "__sqlanon_ranked_3" AS "ranked_2" ON "source"."zip" IS NOT DISTINCT FROM "ranked_2"."value";
