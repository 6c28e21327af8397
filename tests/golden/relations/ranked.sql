SELECT MAX("rank_0") FROM {#1} AS "ranked" WHERE "value" IS NULL
