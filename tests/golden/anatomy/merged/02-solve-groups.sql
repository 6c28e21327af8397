-- Look for: the greatest number of buckets of a region: as often as it can be halved may buckets be put together.

SELECT
  MAX("groups")
FROM "__sqlanon_groups_1";
