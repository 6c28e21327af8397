-- Look for: a slot is a region by itself at first; where one of a pair violates, both are one region, the lower number, and is_new:
-- only such regions are asked again.

CREATE TEMPORARY TABLE "__sqlanon_slots_1" AS
SELECT DISTINCT "slot", "slot" AS "region", TRUE AS "is_new"
FROM "__sqlanon_rows_in_slots_1" AS "rows";

CREATE TEMPORARY TABLE "__sqlanon_slots_2" AS
SELECT
  "slot"."slot", CASE WHEN "hit"."block" IS NULL THEN "slot"."region" ELSE ("slot"."slot" >> 1) << 1 END AS "region",
  NOT "hit"."block" IS NULL AS "is_new"
FROM "__sqlanon_slots_1" AS "slot"
LEFT JOIN (
  SELECT DISTINCT ("slot"."region" >> 1) AS "block"
  FROM "__sqlanon_slots_1" AS "slot"
  JOIN "__sqlanon_violating_1" AS "violating" ON "slot"."region" = "violating"."region"
) AS "hit" ON ("slot"."slot" >> 1) = "hit"."block";
