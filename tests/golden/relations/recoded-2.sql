SELECT
  {'key_0': ("recode_0"."code" << 0) + ("recode_1"."code" << 31), 'key_1': ("recode_2"."code" << 0)} AS "class_id",
  "recode_0"."label" AS "label_0", "recode_1"."label" AS "label_1", "recode_2"."label" AS "label_2",
  "source"."disease" AS "column_3"
FROM "source"
JOIN "recode_0" ON "source"."dob" IS NOT DISTINCT FROM "recode_0"."value" AND "recode_0"."code" < 2147483648
JOIN "recode_1" ON "source"."sex" IS NOT DISTINCT FROM "recode_1"."value" AND "recode_1"."code" < 2147483648
JOIN "recode_2" ON "source"."zip" IS NOT DISTINCT FROM "recode_2"."value" AND "recode_2"."code" < 2147483648
