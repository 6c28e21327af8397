-- Look for: the estimate of labels with sql/estimates/bucket_bounds.sql added: bounds of m rows and s values of n, m + s - n
-- to the lesser of both, in each bucket; nothing was withheld (0 rows).

CREATE TEMPORARY TABLE "__sqlanon_estimate_1" AS SELECT * FROM ({figures-2(0)}) AS "figures";
