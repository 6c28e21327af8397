SELECT
  "source"."rowid" AS "row", "source"."dob" AS "value_0", "source"."sex" AS "value_1", "source"."zip" AS "value_2",
  "source"."disease" AS "value_3", "source"."dob" AS "near_0", "source"."sex" AS "near_1", "source"."zip" AS "near_2"
FROM "memory"."main"."patients" AS "source"
