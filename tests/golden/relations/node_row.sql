SELECT "node"."index" AS "tag", "fine".* EXCLUDE ("tag")
FROM {#1} AS "fine"
JOIN (SELECT UNNEST(CAST($1 AS BIGINT[])) AS "of_tag", UNNEST(CAST($2 AS BIGINT[])) AS "index") AS "node"
  ON "fine"."tag" = "node"."of_tag"
