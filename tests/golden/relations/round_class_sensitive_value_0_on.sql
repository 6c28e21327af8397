SELECT "class"."class_id", "class"."size", "system"."main".least("violation"."excess", "class"."size") AS "excess"
FROM (
  {#1} AS "class"
    INNER JOIN (
      SELECT
        "class_id", CAST("system"."main".sum("n") AS BIGINT) AS "size",
        CAST("system"."main".sum("n") AS DOUBLE) AS "excess"
      FROM {#2} AS "class_sensitive_value"
      GROUP BY "class_id"
      HAVING ("system"."main".count_star() < 3)
    ) AS "violation" ON (("class"."set_class" = "violation"."class_id"))
)
