-- Look for: points by the region of their slot, with what p(t,s) is measured from.

CREATE TEMPORARY TABLE "__sqlanon_points_1" AS
SELECT
  "slot"."region" AS "region", "row"."r_0", "row"."r_1", "row"."r_2", "row"."subject_0", "row"."part_0", "row"."part_1",
  "row"."other_0", "row"."n"
FROM "__sqlanon_rows_in_slots_1" AS "row"
JOIN "__sqlanon_slots_2" AS "slot" ON "row"."slot" = "slot"."slot";
