-- Look for: after the buckets, the points again: with the ranks of one column alone; the loss is counts of values between
-- the ends of each region's ranges, and no value itself leaves this query.

SELECT "rowid", "label", CAST((("key_0" & 31)) AS INT) AS "r_0", CAST((("key_0" & 960) >> 6) AS INT) AS "r_1"
FROM "__sqlanon_points_2";

CREATE TEMPORARY TABLE "__sqlanon_regions_done_2" AS
SELECT "region", "rows", "low_0", "high_0", "low_1", "high_1"
FROM "__sqlanon_numbered_2";

CREATE TEMPORARY TABLE "__sqlanon_points_done_2" AS
SELECT
  "placed"."region", CAST((("point"."key_0" & 31)) AS INT) AS "r_0",
  CAST((("point"."key_0" & 960) >> 6) AS INT) AS "r_1", CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_2" AS "point"
POSITIONAL JOIN "__sqlanon_placed_2" AS "placed";

SELECT
  CAST(SUM("region"."rows") AS INT128),
  CAST(COALESCE(SUM("region"."rows" * COALESCE("known"."most_0" - "known"."least_0", 0)), 0) AS INT128),
  CAST(COALESCE(SUM("region"."rows" * COALESCE("known"."most_1" - "known"."least_1", 0)), 0) AS INT128)
FROM "__sqlanon_regions_done_2" AS "region"
JOIN ({known-2}) AS "known" ON "region"."region" = "known"."region";

SELECT "rowid", "label", CAST((("key_0" & 32) >> 5) AS INT) AS "r_0" FROM "__sqlanon_points_3";

CREATE TEMPORARY TABLE "__sqlanon_regions_done_3" AS
SELECT "region", "rows", "low_0", "high_0"
FROM "__sqlanon_numbered_3";

CREATE TEMPORARY TABLE "__sqlanon_points_done_3" AS
SELECT "placed"."region", CAST((("point"."key_0" & 32) >> 5) AS INT) AS "r_0", CAST(1 AS BIGINT) AS "n"
FROM "__sqlanon_points_3" AS "point"
POSITIONAL JOIN "__sqlanon_placed_3" AS "placed";

SELECT
  CAST(SUM("region"."rows") AS INT128),
  CAST(COALESCE(SUM("region"."rows" * COALESCE("known"."most_0" - "known"."least_0", 0)), 0) AS INT128)
FROM "__sqlanon_regions_done_3" AS "region"
JOIN (
  SELECT "region", "low_0" AS "least_0", "high_0" AS "most_0", FALSE AS "with_null_0"
  FROM "__sqlanon_regions_done_3" AS "regions"
) AS "known" ON "region"."region" = "known"."region";
