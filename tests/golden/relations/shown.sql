SELECT "labelled"."list_id", ARRAY_AGG("node"."label" ORDER BY "node"."label" ASC NULLS LAST) AS "labels"
FROM "__sqlanon_labelled_1" AS "labelled"
JOIN "__sqlanon_label_1" AS "node" ON "node"."code" = "labelled"."code"
GROUP BY "labelled"."list_id"
