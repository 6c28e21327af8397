-- Look for: the same text as for buckets but for the five rows that were withheld, which are in the upper bound.

CREATE TEMPORARY TABLE "__sqlanon_estimate_1" AS SELECT * FROM ({figures-2(5)}) AS "figures";
