-- Look for: share is the part of a bucket's values; total and signatures go with it, for the bounds.

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
FROM "__sqlanon_leaf_1" AS "grouped";

SELECT BOOL_OR(CAST("part_0" IS NULL AS BOOLEAN)) FROM "__sqlanon_signature_1" AS "part";
