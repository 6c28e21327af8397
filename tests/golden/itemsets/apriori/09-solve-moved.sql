-- Look for: DISTINCT: items of a list that get one label become one.

CREATE TEMPORARY TABLE "__sqlanon_moved_1" AS
SELECT DISTINCT "labelled"."class", "labelled"."list_id", "raised"."above" AS "code"
FROM "__sqlanon_labelled_1" AS "labelled"
JOIN "__sqlanon_raised_1" AS "raised" ON "raised"."code" = "labelled"."code";
