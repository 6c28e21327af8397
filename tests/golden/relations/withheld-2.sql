SELECT "tag" AS "index", ("tag" << 5) + "key_0" AS "class_id", CAST(SUM("n") AS BIGINT) AS "size"
FROM (
  SELECT CAST(1 AS BIGINT) AS "tag", ("key_0" & {#1}) AS "key_0", "n"
  FROM {#2} AS "cells"
  UNION ALL
  SELECT CAST(2 AS BIGINT) AS "tag", ("key_0" & 31) AS "key_0", "n"
  FROM {#2} AS "cells"
) AS "node_row"
GROUP BY "tag", ("tag" << 5) + "key_0"
