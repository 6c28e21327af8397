-- Look for: the greatest number of buckets that a region has; it is halved whenever buckets are put together.

SELECT MAX("groups") FROM "__sqlanon_groups_1";
