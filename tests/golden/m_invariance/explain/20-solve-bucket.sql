-- Look for: numbers in an order that was drawn.

CREATE TEMPORARY TABLE "__sqlanon_bucket_1" AS
SELECT
  "signature", "place",
  ROW_NUMBER() OVER (ORDER BY "draw" ASC NULLS LAST, "signature" ASC NULLS LAST, "place" ASC NULLS LAST) AS "bucket"
FROM "__sqlanon_class_1" AS "class";

SELECT
  (SELECT COUNT(*) FROM "__sqlanon_bucket_1" AS "bucket") AS "buckets", COUNT("row_no") AS "n",
  COUNT(*) - COUNT("row_no") AS "counterfeits"
FROM "__sqlanon_in_bucket_1" AS "in_bucket";
