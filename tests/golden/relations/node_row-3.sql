SELECT "tag" - {#1} AS "tag", * EXCLUDE ("tag") FROM "__sqlanon_rollup_1" AS "rollup" WHERE "tag" BETWEEN {#1} AND {#1}
