-- Look for: leaves of a label on which all conditions agree are one, their weights added up; share is the part of its
-- label, and NULL where a weight is not known.

CREATE TEMPORARY TABLE "__sqlanon_signature_1" AS
SELECT
  "label", "listed", "part_0", "weight",
  CASE
    WHEN COUNT(*) OVER (PARTITION BY "label") = 1 THEN CAST(1.0 AS DOUBLE)
    WHEN COUNT(*) OVER (PARTITION BY "label") = COUNT("weight") OVER (PARTITION BY "label")
    THEN "weight" / NULLIF(SUM("weight") OVER (PARTITION BY "label"), 0)
  END AS "share",
  ROW_NUMBER() OVER () AS "signature", COUNT(*) OVER (PARTITION BY "label") AS "signatures",
  SUM("weight") OVER (PARTITION BY "label") AS "total"
FROM (
  SELECT "label", "listed", "part_0", CASE WHEN COUNT(*) = COUNT("weight") THEN SUM("weight") END AS "weight"
  FROM (
    SELECT
      "leaf_0"."label", "leaf_0"."weight", TRUE AS "listed",
      TRY(
        CASE
          WHEN "leaf_0"."value" IS NULL OR NOT "leaf_0"."value" IS NULL
          THEN CAST(("leaf_0"."value" >= CAST('1950-06-10' AS DATE)) AS BOOLEAN)
        END
      ) AS "part_0"
    FROM "__sqlanon_leaf_1" AS "leaf_0"
  ) AS "leaf"
  GROUP BY "label", "listed", "part_0"
) AS "grouped";

SELECT COUNT(*), EXISTS(SELECT 1 FROM "__sqlanon_signature_1" AS "signature" WHERE "share" < 1)
FROM (
  SELECT
    "group_0" AS "sex", "value_1" AS "count", "value_1_spread" AS "count_spread", "value_1_low" AS "count_low",
    "value_1_high" AS "count_high", CAST(NULL AS TEXT) AS "uniform_columns"
  FROM "__sqlanon_answer_1" AS "answer"
  ORDER BY "group_0" ASC NULLS LAST
) AS "answer";
