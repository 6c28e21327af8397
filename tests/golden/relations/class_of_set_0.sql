SELECT
  "class_id", "size", "entities",
  "system"."main".struct_pack(
    "key_0" := "system"."main"."&"("class_id"."key_0", {#1}),
    "key_1" := "system"."main"."&"("class_id"."key_1", 2147483647)
  ) AS "set_class"
FROM "equivalence_class"
