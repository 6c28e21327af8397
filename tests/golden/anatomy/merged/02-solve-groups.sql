-- Look for:

SELECT
  MAX("groups")
FROM "__sqlanon_groups_1";
