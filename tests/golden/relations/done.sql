SELECT "region", UNNEST("labels") AS "label" FROM "__sqlanon_regions_1" AS "regions" WHERE "dim" IS NULL
