SELECT MIN(CAST("equivalence_class"."size" AS DOUBLE) / "most") AS "achieved"
FROM "equivalence_class"
INNER JOIN ({class}) AS "class" ON "class"."class_id" = "equivalence_class"."class_id"
