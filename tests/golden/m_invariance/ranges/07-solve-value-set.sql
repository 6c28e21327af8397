-- Look for: classes of one signature are put together; those without one yet by the list of their values.

CREATE TEMPORARY TABLE "__sqlanon_value_set_1" AS
SELECT "signature", "place", DENSE_RANK() OVER (ORDER BY "signature" ASC NULLS LAST, "codes" ASC NULLS LAST) AS "region"
FROM (
  SELECT "signature", "place", ARRAY_AGG("code" ORDER BY "code" ASC NULLS LAST) AS "codes"
  FROM "__sqlanon_placed_1" AS "placed"
  GROUP BY "signature", "place"
) AS "class";
