SELECT "region", UNNEST("labels") AS "label" FROM "__sqlanon_regions_1" WHERE "dim" IS NULL
