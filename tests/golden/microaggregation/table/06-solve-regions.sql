-- Look for: NULL where the rows of a group have NULL; groups that show the same are one class.

CREATE TEMPORARY TABLE "__sqlanon_regions_1" AS
SELECT *, MIN("region") OVER (PARTITION BY "label_0", "label_1", "label_2") AS "class"
FROM (
  SELECT
    "mean"."region", CASE WHEN COUNT("row"."value_0") > 0 THEN ANY_VALUE("mean"."value_0") END AS "label_0",
    ANY_VALUE("row"."label_1") AS "label_1",
    CASE WHEN COUNT("row"."value_1") > 0 THEN ANY_VALUE("mean"."value_1") END AS "label_2"
  FROM "__sqlanon_means_1" AS "mean"
  JOIN "__sqlanon_row_regions_1" AS "numbered" ON "mean"."region" = "numbered"."region"
  JOIN "__sqlanon_rows_1" AS "row" ON "row"."row" = "numbered"."row"
  GROUP BY "mean"."region"
) AS "shown";
