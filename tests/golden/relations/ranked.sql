SELECT MAX("rank_0") FROM {#1} WHERE "value" IS NULL
