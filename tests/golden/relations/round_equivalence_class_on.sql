SELECT "class"."class_id", "class"."size", "system"."main".least("violation"."excess", "class"."size") AS "excess"
FROM (
  {#1} AS "class" INNER JOIN ({violation-3({#2}, 3)}) AS "violation" ON (("class"."set_class" = "violation"."class_id"))
)
