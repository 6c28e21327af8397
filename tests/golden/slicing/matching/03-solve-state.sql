-- Look for: all rows by region: p(t,s) of anybody depends on every region that they match, not on new ones alone.

CREATE TEMPORARY TABLE "__sqlanon_state_1" AS
SELECT
  "slot"."region" AS "region", "row"."r_0", "row"."r_1", "row"."r_2", "row"."subject_0", "row"."part_0", "row"."part_1",
  "row"."other_0", "row"."n"
FROM "__sqlanon_rows_in_slots_1" AS "row"
JOIN "__sqlanon_slots_1" AS "slot" ON "row"."slot" = "slot"."slot";

CREATE TEMPORARY TABLE "__sqlanon_state_3" AS SELECT * FROM "__sqlanon_points_1";
